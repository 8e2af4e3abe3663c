import { createCipheriv, createDecipheriv, createHash, hkdfSync } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonical, digest } from "../../../src/model/json.ts";
import {
  entryHash,
  genesisHash,
  type Header,
  headerText,
  type Row,
  verifierKey,
} from "../../../src/runtime/journal/chain.ts";
import { derive, seal, unseal } from "../../../src/runtime/journal/seal.ts";
import { failure, means, OP, open, rawly, written } from "./support.ts";

const KEY = Buffer.alloc(32, 7);
const HEADER: Omit<Header, "kc" | "nonce"> = {
  v: 1,
  jid: "jrn_7f3a",
  seq: 7,
  prev: "ab".repeat(32),
  ts: "2026-11-30T19:00:01.000Z",
  op: OP,
  step: 2,
  kind: "step.observed",
  enc: "A256GCM+HKDF-SHA256",
  kid: OP,
};

describe("the form of an entry", () => {
  test("the header is hashed and authenticated in its canonical form", () => {
    const text = fc.string({ unit: "grapheme" });
    fc.assert(
      fc.property(text, text, fc.nat(), fc.nat(), (op, nonce, seq, step) => {
        const header = { ...HEADER, op, nonce, seq, step, kc: "" };
        expect(headerText(header)).toBe(canonical(header));
        const entry = { ...header, ct: nonce };
        expect(entryHash(entry)).toBe(digest("journal/entry", canonical(entry)));
      }),
    );
  });

  test("stored rows hash and chain as documented, from the genesis on", () => {
    const dir = written(4);
    rawly(dir, (db) => {
      const { id: _, ...genesis } = db.prepare("SELECT * FROM genesis").get() as {
        id: number;
        jid: string;
        created: string;
        vkey: string;
        alg: "ed25519";
      };
      const rows = db.prepare("SELECT * FROM entry ORDER BY seq").all() as Row[];
      expect(Object.keys(rows[0] ?? {})).toEqual([
        "v",
        "jid",
        "seq",
        "prev",
        "ts",
        "op",
        "step",
        "kind",
        "enc",
        "kid",
        "kc",
        "nonce",
        "ct",
        "entry_hash",
      ]);
      expect(rows.map((row) => row.seq)).toEqual([0, 1, 2, 3, 4, 5]);
      let prev = createHash("sha256")
        .update(`provision/journal/genesis/v1\0${canonical(genesis)}`)
        .digest("hex");
      expect(genesisHash(genesis)).toBe(prev);
      for (const { entry_hash, ...rest } of rows) {
        expect(rest.prev).toBe(prev);
        prev = createHash("sha256")
          .update(`provision/journal/entry/v1\0${canonical(rest)}`)
          .digest("hex");
        expect(entry_hash).toBe(prev);
      }
    });
  });

  test("the verifier key names the origin, the key's short hash and the key", () => {
    const [origin, id, key] = verifierKey("jrn_a", new Uint8Array(32).fill(9)).split("+");
    const typed = Buffer.from(key ?? "", "base64");
    expect(origin).toBe("provision.local/jrn_a");
    expect(typed).toEqual(Buffer.concat([Uint8Array.of(1), Buffer.alloc(32, 9)]));
    expect(id).toBe(createHash("sha256").update("provision.local/jrn_a\n").update(typed).digest("hex").slice(0, 8));
    expect(open(written(2)).vkey()).toMatch(/^provision\.local\/jrn_[a-z2-7]{16}\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}$/);
  });
});

describe("the seal", () => {
  const { random } = means();

  test("keys are derived as RFC 5869 has it", () => {
    expect(derive(KEY, "info")).toEqual(Buffer.from(hkdfSync("sha256", KEY, "", "info", 32)));
  });

  test("an entry's key and its commitment are the ones documented for its place", () => {
    const { entry } = seal(KEY, HEADER, {}, random);
    const place = Buffer.from("jrn_7f3a\0\0\0\0\0\0\0\0\u0007");
    const label = (name: string) => Buffer.concat([Buffer.from(`provision/journal/${name}/v1\0`), place]);
    expect(entry.kc).toBe(derive(KEY, label("commit")).toString("base64url"));
    const bytes = Buffer.from(entry.ct, "base64url");
    const decipher = createDecipheriv("aes-256-gcm", derive(KEY, label("key")), Buffer.from(entry.nonce, "base64url"));
    const { ct: _, ...header } = entry;
    decipher.setAAD(Buffer.from(canonical(header))).setAuthTag(bytes.subarray(-16));
    const plain = Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]);
    expect(plain).toEqual(Buffer.concat([Buffer.from("\0\0\0\u0002{}"), Buffer.alloc(250)]));
  });

  test("what was sealed comes out again, and lengths tell only multiples of 256", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 900 }), (text) => {
        const { entry } = seal(KEY, HEADER, { text }, random);
        expect(unseal(KEY, entry)).toEqual({ text });
        expect((Buffer.from(entry.ct, "base64url").length - 16) % 256).toBe(0);
      }),
    );
  });

  test("the same payload at another place has another key", () => {
    const same = () => Buffer.alloc(12);
    const here = seal(KEY, HEADER, { text: "x" }, same).entry;
    const there = seal(KEY, { ...HEADER, seq: 8 }, { text: "x" }, same).entry;
    expect([here.nonce, here.kc === there.kc, here.ct === there.ct]).toEqual([there.nonce, false, false]);
  });

  test("a commitment to another key is refused before anything is decrypted", () => {
    const { entry } = seal(KEY, HEADER, { text: "x" }, random);
    const other = seal(Buffer.alloc(32, 8), HEADER, { text: "x" }, random).entry;
    expect(failure(() => unseal(KEY, { ...entry, kc: other.kc }))).toEqual({ code: "key_commitment", exit: 9 });
    expect(failure(() => unseal(KEY, { ...entry, kc: "" }))).toEqual({ code: "key_commitment", exit: 9 });
    expect(failure(() => unseal(Buffer.alloc(32, 8), entry))).toEqual({ code: "key_commitment", exit: 9 });
  });

  test("each byte of the ciphertext and each field of the header is authenticated", () => {
    const { entry } = seal(KEY, HEADER, { text: "x" }, random);
    const bytes = Buffer.from(entry.ct, "base64url");
    for (let i = 0; i < bytes.length; i++) {
      const flipped = Buffer.from(bytes);
      flipped[i] = (flipped[i] ?? 0) ^ 1;
      expect(failure(() => unseal(KEY, { ...entry, ct: flipped.toString("base64url") })).code).toBe("ciphertext");
    }
    for (const change of [
      { v: 2 },
      { prev: "00" },
      { ts: "x" },
      { op: "x" },
      { step: 3 },
      { enc: "x" },
      { kid: "x" },
      { nonce: "AAAAAAAAAAAAAAAA" },
    ])
      expect(failure(() => unseal(KEY, { ...entry, ...change })).code).toBe("ciphertext");
    expect(unseal(KEY, entry)).toEqual({ text: "x" });
  });

  test("a length or a filling that we never write is refused, though the key is right", () => {
    const { entry } = seal(KEY, HEADER, {}, random);
    const label = Buffer.concat([
      Buffer.from("provision/journal/key/v1\0jrn_7f3a\0"),
      Buffer.from([0, 0, 0, 0, 0, 0, 0, 7]),
    ]);
    const sealedAs = (plain: Buffer) => {
      const { ct: _, ...header } = entry;
      const cipher = createCipheriv("aes-256-gcm", derive(KEY, label), Buffer.from(entry.nonce, "base64url"));
      cipher.setAAD(Buffer.from(canonical(header)));
      return {
        ...entry,
        ct: Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString("base64url"),
      };
    };
    const plain = (length: number, size: number, filling = 0) => {
      const bytes = Buffer.alloc(size, filling);
      bytes.writeUInt32BE(length);
      bytes.write("{}", 4);
      return bytes;
    };
    expect(unseal(KEY, sealedAs(plain(2, 256)))).toEqual({});
    for (const bad of [plain(2, 512), plain(2, 256, 1), plain(253, 256), plain(2 ** 31, 256)])
      expect(failure(() => unseal(KEY, sealedAs(bad)))).toEqual({ code: "padding", exit: 9 });
    expect(failure(() => unseal(KEY, sealedAs(plain(2, 255)))).code).toBe("ciphertext");
  });
});
