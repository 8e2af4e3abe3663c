import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ProvisionError } from "../../../src/model/errors.ts";
import { assuranceOf, NAMESPACE, verifySshsig } from "../../../src/runtime/approvals/sshsig.ts";
import { armour, reader, sshString, unarmour } from "../../../src/runtime/approvals/wire.ts";
import { ecdsa, ed25519, forge, type Oddities, rsa, type SoftKey, skEcdsa, skEd25519 } from "./forge.ts";

const message = Buffer.from('{"decision":"approve","step":1}');
const plain = ed25519();
const rsa2048 = rsa();
const LABEL = "SSH SIGNATURE";

function refusalOf(armoured: string, over: Uint8Array = message): string {
  try {
    verifySshsig(armoured, over);
  } catch (fault) {
    if (fault instanceof ProvisionError && fault.exit === 9) return fault.code;
    throw fault;
  }
  return "accepted";
}

const everyType: [string, () => SoftKey][] = [
  ["ssh-ed25519", () => plain],
  ["ecdsa-sha2-nistp256", ecdsa],
  ["ssh-rsa", () => rsa2048],
  ["sk-ssh-ed25519@openssh.com", skEd25519],
  ["sk-ecdsa-sha2-nistp256@openssh.com", skEcdsa],
];

describe("a signature", () => {
  test.each(everyType)("by a key of type %s is accepted over its own message alone", (keyType, make) => {
    const key = make();
    const armoured = forge(key, message);
    const facts = verifySshsig(armoured, message);
    expect(facts).toMatchObject({ keyType, namespace: NAMESPACE });
    expect(facts.publicKeyBlob.equals(key.blob)).toBe(true);
    expect("flags" in facts).toBe(keyType.startsWith("sk-"));
    expect(refusalOf(armoured, Buffer.concat([message, Buffer.from("\n")]))).toBe("bad_signature");
    expect(refusalOf(armoured, Buffer.alloc(0))).toBe("bad_signature");
  });

  test("tells the namespace it was made for", () => {
    expect(verifySshsig(forge(plain, message, { namespace: "git" }), message).namespace).toBe("git");
  });

  test("over sha256 is accepted, as ssh-keygen can write it", () => {
    expect(refusalOf(forge(plain, message, { hash: "sha256" }))).toBe("accepted");
  });

  test("tells flags and counter of a security key", () => {
    expect(verifySshsig(forge(skEd25519(), message, { flags: 5, counter: 99 }), message)).toMatchObject({
      flags: 5,
      counter: 99,
    });
  });

  test.each<[string, Oddities]>([
    ["another magic", { magic: "SSHSIH" }],
    ["another version", { version: 2 }],
    ["a reserved field that is not empty", { reserved: "x" }],
    ["no namespace", { namespace: "" }],
    ["a weak hash", { hash: "sha1" }],
    ["a hash that OpenSSH does not write", { hash: "sha384" }],
    ["bytes after the signature", { afterSignature: Buffer.from([0]) }],
    ["bytes after the end", { afterAll: Buffer.from([0]) }],
    ["another key than the one that signed", { blob: ed25519().blob }],
    ["a key of another type than the one that signed", { blob: ecdsa().blob }],
  ])("with %s is refused", (_, odd) => {
    expect(refusalOf(forge(plain, message, odd))).toBe("bad_signature");
  });

  test("with flags and counter at a key that has none is refused", () => {
    expect(refusalOf(forge(plain, message, { afterSignature: Buffer.from([1, 0, 0, 0, 7]) }))).toBe("bad_signature");
  });

  test("whose numbers are not in their shortest form is refused", () => {
    const key = ecdsa();
    const longer = (data: Buffer): Buffer => {
      const from = reader(key.sign(data, 0, 0));
      const [type, numbers] = [from.string(), reader(from.string())];
      const [r, s] = [numbers.string(), numbers.string()];
      // A number that has its sign byte already would be too long in any case.
      if (r[0] === 0) return longer(data);
      const padded = sshString(Buffer.concat([Buffer.from([0]), r]));
      return Buffer.concat([sshString(type), sshString(Buffer.concat([padded, sshString(s)]))]);
    };
    const odd = { ...key, sign: longer };
    expect(refusalOf(forge(odd, message))).toBe("bad_signature");
    expect(refusalOf(forge(key, message))).toBe("accepted");
  });

  test("whose flags were raised afterwards is refused", () => {
    const bytes = unarmour(LABEL, forge(skEd25519(), message, { flags: 0 }), 10_000);
    bytes[bytes.length - 5] = 5;
    expect(refusalOf(armour(LABEL, bytes))).toBe("bad_signature");
  });
});

describe("a key", () => {
  test("of RSA with less than 2048 bits, or with SHA-1, is refused", () => {
    expect(refusalOf(forge(rsa(2048, "rsa-sha2-256"), message))).toBe("accepted");
    expect(refusalOf(forge(rsa(2040), message))).toBe("bad_signature");
    expect(refusalOf(forge(rsa(2048, "ssh-rsa"), message))).toBe("bad_signature");
  });

  test("of a security key that serves web pages is refused", () => {
    expect(refusalOf(forge(skEd25519("https://example.test"), message))).toBe("bad_signature");
  });

  test.each([
    "ssh-ed25519-cert-v01@openssh.com",
    "ssh-dss",
    "ecdsa-sha2-nistp384",
    "webauthn-sk-ecdsa-sha2-nistp256@openssh.com",
    "",
  ])("of type %j is refused", (type) => {
    const blob = Buffer.concat([sshString(type), plain.blob.subarray(15)]);
    expect(refusalOf(forge(plain, message, { blob }))).toBe("bad_signature");
  });

  test("with something after its end is refused", () => {
    expect(refusalOf(forge(plain, message, { blob: Buffer.concat([plain.blob, Buffer.from([0])]) }))).toBe(
      "bad_signature",
    );
  });

  test("that is no point of its curve is refused", () => {
    const blob = Buffer.from(ecdsa().blob);
    blob[blob.length - 1]! ^= 1;
    expect(refusalOf(forge(plain, message, { blob }))).toBe("bad_signature");
  });
});

describe("every byte counts", () => {
  test.each(everyType)("changing any byte of the armour of %s is refused", (_, make) => {
    const armoured = forge(make(), message);
    const accepted: number[] = [];
    for (let i = 0; i < armoured.length; i++) {
      for (const other of ["A", "=", "\n", " "]) {
        if (armoured[i] === other) continue;
        const changed = armoured.slice(0, i) + other + armoured.slice(i + 1);
        if (refusalOf(changed) === "accepted") accepted.push(i);
      }
    }
    expect(accepted).toEqual([]);
  });

  test.each(everyType)("changing any byte inside the armour of %s is refused", (_, make) => {
    const bytes = unarmour(LABEL, forge(make(), message), 10_000);
    const accepted: number[] = [];
    for (let i = 0; i < bytes.length; i++) {
      for (const flip of [0x01, 0x80]) {
        bytes[i]! ^= flip;
        if (refusalOf(armour(LABEL, bytes)) === "accepted") accepted.push(i);
        bytes[i]! ^= flip;
      }
    }
    expect(accepted).toEqual([]);
    expect(refusalOf(armour(LABEL, bytes))).toBe("accepted");
  });

  test("flipping any bit of the message is refused", () => {
    const armoured = forge(plain, message);
    for (let i = 0; i < message.length * 8; i++) {
      const changed = Buffer.from(message);
      changed[i >> 3]! ^= 1 << (i & 7);
      expect(refusalOf(armoured, changed)).toBe("bad_signature");
    }
  });

  test("inserting or leaving out any character of the armour is refused", () => {
    const armoured = forge(plain, message);
    for (let i = 0; i <= armoured.length; i++) {
      const before = armoured.slice(0, i);
      for (const extra of ["\n", " ", "A", "="])
        expect(refusalOf(before + extra + armoured.slice(i))).toBe("bad_signature");
      if (i < armoured.length) expect(refusalOf(before + armoured.slice(i + 1))).toBe("bad_signature");
    }
  });

  test.each<[string, (armoured: string) => string]>([
    ["carriage returns", (text) => text.replaceAll("\n", "\r\n")],
    ["lines of 64 columns", (text) => text.replace(/(.{64})(.{6})\n/, "$1\n$2")],
    ["no last newline", (text) => text.trimEnd()],
    ["text before it", (text) => `hello\n${text}`],
    ["text after it", (text) => `${text}hello\n`],
    ["a header", (text) => text.replace("\n", "\nVersion: 1\n\n")],
    ["the URL alphabet", (text) => text.replaceAll("/", "_").replaceAll("+", "-")],
    ["another label", (text) => text.replaceAll("SSH SIGNATURE", "SSH SIGNATURES")],
    ["a second signature", (text) => text + text],
    ["nothing in it", () => armour(LABEL, Buffer.alloc(0))],
    ["nothing at all", () => ""],
  ])("armour with %s is refused", (_, change) => {
    let armoured = forge(plain, message);
    while (!/[+/]/.test(armoured.split("\n").slice(1, -2).join(""))) armoured = forge(ed25519(), message);
    expect(refusalOf(armoured)).toBe("accepted");
    expect(refusalOf(change(armoured))).toBe("bad_signature");
  });
});

describe("whatever comes in", () => {
  test("any text is answered by a verdict and nothing else", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => refusalOf(text) === "bad_signature"));
  });

  test("any bytes in a right armour are answered by a verdict and nothing else", () => {
    const start = Buffer.concat([Buffer.from("SSHSIG"), Buffer.from([0, 0, 0, 1])]);
    const bytes = fc.uint8Array({ maxLength: 300 });
    fc.assert(fc.property(bytes, (some) => refusalOf(armour(LABEL, Buffer.concat([start, some]))) === "bad_signature"));
  });

  test("any spliced signature is answered by a verdict and nothing else", () => {
    const seeds = everyType.map(([, make]) => unarmour(LABEL, forge(make(), message), 10_000));
    const splice = fc.tuple(
      fc.constantFrom(...seeds),
      fc.nat(400),
      fc.nat(8),
      fc.uint8Array({ minLength: 1, maxLength: 8 }),
    );
    fc.assert(
      fc.property(splice, ([seed, at, out, put]) => {
        const changed = Buffer.concat([seed.subarray(0, at), put, seed.subarray(at + out)]);
        fc.pre(!changed.equals(seed));
        return refusalOf(armour(LABEL, changed)) === "bad_signature";
      }),
      { numRuns: 500 },
    );
  });
});

describe("assurance", () => {
  test.each<[number, string]>([
    [1, "touch"],
    [5, "touch_uv"],
    [0x1d, "touch_uv"],
    [0, "no_touch"],
    [4, "no_touch"],
  ])("a security key's flags %i show %s", (flags, shown) => {
    for (const make of [skEd25519, skEcdsa]) {
      const verified = verifySshsig(forge(make(), message, { flags }), message);
      if (shown === "no_touch")
        expect(() => assuranceOf(verified)).toThrow(expect.objectContaining({ code: shown, exit: 13 }));
      else expect(assuranceOf(verified)).toBe(shown);
    }
  });

  test("every other key shows software", () => {
    for (const key of [plain, ecdsa(), rsa2048]) {
      expect(assuranceOf(verifySshsig(forge(key, message), message))).toBe("software");
    }
  });
});
