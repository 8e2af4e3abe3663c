import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ProvisionError } from "../../../src/model/errors.ts";
import { parsePublicLine, publicLine } from "../../../src/runtime/approvals/pubkey.ts";
import { generateKey, parseKey, readKeyFile } from "../../../src/runtime/approvals/sshkey.ts";
import { signSshsig, verifySshsig } from "../../../src/runtime/approvals/sshsig.ts";
import { armour, unarmour } from "../../../src/runtime/approvals/wire.ts";
import { ed25519, skEd25519 } from "./forge.ts";
import { hasSshKeygen, inFolder, sshKeygen, withSshKeygen } from "./openssh.ts";

const LABEL = "OPENSSH PRIVATE KEY";
const made = generateKey("ana@example.test");
const message = Buffer.from("hello");

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (fault) {
    if (fault instanceof ProvisionError) return `${fault.code} ${fault.exit}`;
    throw fault;
  }
  return "accepted";
}

describe("a key that is made here", () => {
  test("is read again and signs", () => {
    const key = parseKey(made.privateText, "key");
    expect(key).toMatchObject({ kind: "plain-file", publicKey: { keyType: "ssh-ed25519", blob: made.blob } });
    const armoured = signSshsig(message, { blob: made.blob, signer: key.signer! });
    expect(verifySshsig(armoured, message).publicKeyBlob.equals(made.blob)).toBe(true);
  });

  test("shows its public half with its comment", () => {
    const line = parsePublicLine(made.publicLine.trimEnd());
    expect(line).toMatchObject({ keyType: "ssh-ed25519", comment: "ana@example.test" });
    expect(line.blob.equals(made.blob)).toBe(true);
  });

  test("is another each time, with a comment of any length", () => {
    expect(generateKey("").blob.equals(generateKey("").blob)).toBe(false);
    for (let length = 0; length < 10; length++) {
      expect(parseKey(generateKey("c".repeat(length)).privateText, "key").signer).not.toBeNull();
    }
  });

  test("takes no comment of two lines", () => {
    expect(codeOf(() => generateKey("ana\nssh-ed25519 AAAA"))).toBe("key_comment 2");
  });
});

describe("a private key file", () => {
  const bytes = unarmour(LABEL, made.privateText, 10_000);

  test("with any byte changed is refused, but for the comment", () => {
    const taken: number[] = [];
    for (let i = 0; i < bytes.length; i++) {
      bytes[i]! ^= 1;
      const text = armour(LABEL, bytes);
      bytes[i]! ^= 1;
      if (codeOf(() => parseKey(text, "key")) !== "accepted") continue;
      taken.push(i);
      expect(parseKey(text, "key").publicKey?.blob.equals(made.blob)).toBe(true);
    }
    const comment = bytes.indexOf("ana@example.test");
    expect(taken).toEqual(Array.from({ length: "ana@example.test".length }, (_, i) => comment + i));
  });

  test.each<[string, (text: string) => string]>([
    ["without its last newline", (text) => text.trimEnd()],
    ["with carriage returns", (text) => text.replaceAll("\n", "\r\n")],
    ["cut off", (text) => text.slice(0, 200)],
    ["with a byte more inside", () => armour(LABEL, Buffer.concat([bytes, Buffer.from([0])]))],
    ["of nothing", () => ""],
    ["of something else", () => "-----BEGIN CERTIFICATE-----\n"],
  ])("%s is refused", (_, change) => {
    expect(codeOf(() => parseKey(change(made.privateText), "key"))).toBe("key_file_malformed 2");
  });

  test("of any bytes is answered by a refusal and nothing else", () => {
    const start = Buffer.from("openssh-key-v1\0");
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (some) => {
        const text = armour(LABEL, Buffer.concat([start, some]));
        return codeOf(() => parseKey(text, "key")) === "key_file_malformed 2";
      }),
    );
    fc.assert(fc.property(fc.string(), (text) => codeOf(() => parseKey(text, "key")) === "key_file_malformed 2"));
  });

  test("that others can read is refused, and its public half is not", async () => {
    await inFolder((folder) => {
      const path = join(folder, "key");
      writeFileSync(path, made.privateText, { mode: 0o600 });
      expect(readKeyFile(path).signer).not.toBeNull();
      for (const mode of [0o640, 0o604, 0o660]) {
        chmodSync(path, mode);
        expect(codeOf(() => readKeyFile(path))).toBe("key_file_open 13");
      }
      writeFileSync(`${path}.pub`, made.publicLine, { mode: 0o644 });
      expect(readKeyFile(`${path}.pub`)).toMatchObject({ kind: "agent", signer: null });
    });
  });

  test("that is not there is refused by name", async () => {
    await inFolder((folder) => {
      expect(() => readKeyFile(join(folder, "none"))).toThrow(/none/);
      expect(codeOf(() => readKeyFile(join(folder, "none")))).toBe("key_file_missing 2");
      expect(codeOf(() => readKeyFile(folder))).toBe("key_file_missing 2");
    });
  });
});

describe("how a key is kept", () => {
  test("is told of public halves by their type", () => {
    const soft = ed25519();
    const hard = skEd25519();
    expect(parseKey(publicLine(soft.keyType, soft.blob, "c"), "key").kind).toBe("agent");
    expect(parseKey(publicLine(hard.keyType, hard.blob, "c"), "key").kind).toBe("hardware");
  });

  test("is told of the older files by their headers", () => {
    const pem = (label: string, headers = "") => `-----BEGIN ${label}-----\n${headers}AAAA\n-----END ${label}-----\n`;
    expect(parseKey(pem("RSA PRIVATE KEY"), "key").kind).toBe("plain-file");
    expect(parseKey(pem("PRIVATE KEY"), "key").kind).toBe("plain-file");
    expect(parseKey(pem("ENCRYPTED PRIVATE KEY"), "key").kind).toBe("encrypted-file");
    expect(parseKey(pem("RSA PRIVATE KEY", "Proc-Type: 4,ENCRYPTED\n"), "key").kind).toBe("encrypted-file");
  });
});

describe.runIf(hasSshKeygen)(`beside ssh-keygen${withSshKeygen}`, () => {
  test("its plain, encrypted and RSA keys are each told apart", async () => {
    await inFolder((folder) => {
      const make = (name: string, ...more: string[]) => {
        sshKeygen(["-q", "-C", "ana", "-f", join(folder, name), ...more]);
        return readKeyFile(join(folder, name));
      };
      const plain = make("plain", "-t", "ed25519", "-N", "");
      expect(plain).toMatchObject({ kind: "plain-file" });
      expect(
        verifySshsig(signSshsig(message, { blob: plain.publicKey!.blob, signer: plain.signer! }), message),
      ).toBeTruthy();
      expect(make("locked", "-t", "ed25519", "-N", "secret words")).toMatchObject({
        kind: "encrypted-file",
        signer: null,
      });
      expect(make("ecdsa", "-t", "ecdsa", "-N", "")).toMatchObject({ kind: "plain-file", signer: null });
      expect(make("pem", "-t", "ecdsa", "-m", "PEM", "-N", "")).toMatchObject({ kind: "plain-file", publicKey: null });
    });
  });

  test("it reads the key that is made here, with its comment", async () => {
    await inFolder((folder) => {
      const path = join(folder, "key");
      writeFileSync(path, made.privateText, { mode: 0o600 });
      expect(sshKeygen(["-y", "-f", path])).toBe(made.publicLine);
    });
  });
});
