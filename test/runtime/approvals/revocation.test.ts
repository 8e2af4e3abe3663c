import { createHash } from "node:crypto";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ProvisionError } from "../../../src/model/errors.ts";
import { publicLine } from "../../../src/runtime/approvals/pubkey.ts";
import { loadRevoked, parseRevoked } from "../../../src/runtime/approvals/revocation.ts";
import { sshString, sshUint32 } from "../../../src/runtime/approvals/wire.ts";
import { ecdsa, ed25519 } from "./forge.ts";
import { hasSshKeygen, inFolder, sshKeygen, withSshKeygen } from "./openssh.ts";

const [bad, good] = [ed25519(), ecdsa()];
const sha = (algorithm: string, blob: Buffer) => createHash(algorithm).update(blob).digest();
const lineOf = ({ keyType, blob }: typeof bad) => publicLine(keyType, blob, "lost laptop");

const uint64 = (value: number) => Buffer.concat([sshUint32(0), sshUint32(value)]);
const section = (type: number, data: Buffer) => Buffer.concat([Buffer.from([type]), sshString(data)]);
function krl(sections: Buffer[], odd: { version?: number; flags?: number; reserved?: string } = {}): Buffer {
  const numbers = [sshUint32(odd.version ?? 1), uint64(3), uint64(1_800_000_000), uint64(odd.flags ?? 0)];
  return Buffer.concat([
    Buffer.from("SSHKRL\n\0"),
    ...numbers,
    sshString(odd.reserved ?? ""),
    sshString("ours"),
    ...sections,
  ]);
}

function verdict(bytes: Buffer): "revokes" | "spares" | string {
  try {
    const list = parseRevoked(bytes, "revoked");
    expect(list.isRevoked(good.blob)).toBe(false);
    return list.isRevoked(bad.blob) ? "revokes" : "spares";
  } catch (fault) {
    if (fault instanceof ProvisionError && fault.exit === 13) return fault.code;
    throw fault;
  }
}

describe("a list of revoked keys", () => {
  test.each<[string, Buffer]>([
    ["a key", section(2, sshString(bad.blob))],
    ["a SHA-1 fingerprint", section(3, sshString(sha("sha1", bad.blob)))],
    ["a SHA-256 fingerprint", section(5, sshString(sha("sha256", bad.blob)))],
  ])("in binary form revokes by %s", (_, body) => {
    expect(verdict(krl([body]))).toBe("revokes");
    expect(verdict(krl([section(1, Buffer.from("any certificates")), body]))).toBe("revokes");
  });

  test("in binary form may be of none, and may hold extensions that are not critical", () => {
    const extension = Buffer.concat([sshString("note@example.test"), Buffer.from([0]), sshString("x")]);
    expect(verdict(krl([]))).toBe("spares");
    expect(verdict(krl([section(255, extension)]))).toBe("spares");
  });

  test("as text is one public key a line", () => {
    expect(verdict(Buffer.from(`# lost\n\n${lineOf(bad)}`))).toBe("revokes");
    expect(verdict(Buffer.from(lineOf(ed25519())))).toBe("spares");
    expect(parseRevoked(Buffer.from(lineOf(bad) + lineOf(ecdsa())), "revoked").count).toBe(2);
  });

  test("revokes keys also of types that could not approve", () => {
    const dsa = Buffer.concat([sshString("ssh-dss"), sshString("numbers")]);
    expect(parseRevoked(Buffer.from(publicLine("ssh-dss", dsa, "")), "revoked").isRevoked(dsa)).toBe(true);
  });

  test.each<[string, Buffer]>([
    ["nothing", Buffer.alloc(0)],
    ["blank lines", Buffer.from("\n\n")],
    ["comments alone", Buffer.from("# none\n")],
    ["garbage", Buffer.from("garbage\n")],
    ["bytes that are no text", Buffer.from([0xff, 0x00, 0x13])],
    ["a good line and a torn one", Buffer.from(`${lineOf(bad)}ssh-ed25519 AAAAC3Nz`)],
    ["a key under another type's name", Buffer.from(`ssh-rsa ${bad.blob.toString("base64")}`)],
    ["the magic alone", Buffer.from("SSHKRL\n\0")],
    ["another version", krl([], { version: 2 })],
    ["flags", krl([], { flags: 1 })],
    ["a reserved field", krl([], { reserved: "x" })],
    ["an unknown section", krl([section(9, Buffer.from("x"))])],
    ["a signature", krl([section(4, sshString(bad.blob))])],
    ["an empty section", krl([section(2, Buffer.alloc(0))])],
    ["a short fingerprint", krl([section(5, sshString(sha("sha1", bad.blob)))])],
    ["a key without a type", krl([section(2, sshString(""))])],
    ["a critical extension", krl([section(255, Buffer.concat([sshString("x"), Buffer.from([1]), sshString("")]))])],
  ])("with %s in it stops every approval", (_, bytes) => {
    expect(verdict(bytes)).toBe("revocation_unreadable");
  });

  test("cut off anywhere stops every approval, but where a section ends", () => {
    const whole = krl([section(2, sshString(bad.blob)), section(5, sshString(sha("sha256", bad.blob)))]);
    const ends = [krl([]).length, krl([section(2, sshString(bad.blob))]).length];
    for (let length = 0; length < whole.length; length++) {
      const stops = verdict(whole.subarray(0, length)) === "revocation_unreadable";
      expect(stops, `cut at ${length}`).toBe(!ends.includes(length));
    }
  });

  test("of any bytes is answered by a verdict and nothing else", () => {
    const body = fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.concat([krl([]), bytes]));
    fc.assert(fc.property(fc.oneof(body, fc.uint8Array().map(Buffer.from)), (bytes) => verdict(bytes) !== "revokes"));
  });
});

describe("the file on disk", () => {
  test("missing, empty or writable by others stops every approval", async () => {
    await inFolder((folder) => {
      const path = join(folder, "revoked");
      const unreadable = expect.objectContaining({ code: "revocation_unreadable", exit: 13 });
      expect(() => loadRevoked(path)).toThrow(unreadable);
      writeFileSync(path, "", { mode: 0o644 });
      expect(() => loadRevoked(path)).toThrow(unreadable);
      writeFileSync(path, lineOf(bad));
      expect(loadRevoked(path).isRevoked(bad.blob)).toBe(true);
      chmodSync(path, 0o666);
      expect(() => loadRevoked(path)).toThrow(unreadable);
    });
  });
});

describe.runIf(hasSshKeygen)(`made by ssh-keygen${withSshKeygen}`, () => {
  test("a list by key, by fingerprint or of none is read", async () => {
    await inFolder((folder) => {
      const [pub, spec, list] = ["bad.pub", "spec", "list"].map((name) => join(folder, name));
      writeFileSync(pub!, lineOf(bad));
      const made = (entries: string) => {
        writeFileSync(spec!, entries);
        sshKeygen(["-q", "-k", "-z", "7", "-f", list!, spec!]);
        return verdict(readFileSync(list!));
      };
      sshKeygen(["-q", "-k", "-f", list!, pub!]);
      expect(verdict(readFileSync(list!))).toBe("revokes");
      expect(made(`key: ${lineOf(bad)}`)).toBe("revokes");
      expect(made(`sha1: ${lineOf(bad)}`)).toBe("revokes");
      expect(made(`sha256: ${lineOf(bad)}`)).toBe("revokes");
      expect(made(`hash: SHA256:${sha("sha256", bad.blob).toString("base64").replace("=", "")}`)).toBe("revokes");
      expect(made("")).toBe("spares");
    });
  });
});
