import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { KeyType } from "../../../src/runtime/approvals/pubkey.ts";
import { armour, sshString, sshUint32 } from "../../../src/runtime/approvals/wire.ts";

/** A key of any type whose private half is in our hands, also of the types that ought to be hardware. */
export interface SoftKey {
  keyType: KeyType;
  blob: Buffer;
  /** The signature blob over the data; flags and counter count for security keys. */
  sign(data: Buffer, flags: number, counter: number): Buffer;
}

const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest();

function mpint(bytes: Buffer): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const short = first < 0 ? Buffer.alloc(0) : bytes.subarray(first);
  return sshString((short[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), short]) : short);
}

function coordinates(key: KeyObject): { x: Buffer; y: Buffer } {
  const jwk = key.export({ format: "jwk" });
  return { x: Buffer.from(jwk.x ?? "", "base64url"), y: Buffer.from(jwk.y ?? "", "base64url") };
}

function ecdsaNumbers(data: Buffer, privateKey: KeyObject): Buffer {
  const value = sign("sha256", data, { key: privateKey, dsaEncoding: "ieee-p1363" });
  return sshString(Buffer.concat([mpint(value.subarray(0, 32)), mpint(value.subarray(32))]));
}

function touched(application: string, data: Buffer, flags: number, counter: number): Buffer {
  return Buffer.concat([sha256(application), Buffer.from([flags]), sshUint32(counter), sha256(data)]);
}

function tail(flags: number, counter: number): Buffer {
  return Buffer.concat([Buffer.from([flags]), sshUint32(counter)]);
}

export function ed25519(): SoftKey {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const keyType = "ssh-ed25519" as const;
  const blob = Buffer.concat([sshString(keyType), sshString(coordinates(publicKey).x)]);
  return {
    keyType,
    blob,
    sign: (data) => Buffer.concat([sshString(keyType), sshString(sign(null, data, privateKey))]),
  };
}

export function skEd25519(application = "ssh:"): SoftKey {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const keyType = "sk-ssh-ed25519@openssh.com" as const;
  const blob = Buffer.concat([sshString(keyType), sshString(coordinates(publicKey).x), sshString(application)]);
  return {
    keyType,
    blob,
    sign: (data, flags, counter) =>
      Buffer.concat([
        sshString(keyType),
        sshString(sign(null, touched(application, data, flags, counter), privateKey)),
        tail(flags, counter),
      ]),
  };
}

function point(publicKey: KeyObject): Buffer {
  const { x, y } = coordinates(publicKey);
  return Buffer.concat([Buffer.from([4]), x, y]);
}

export function ecdsa(): SoftKey {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const keyType = "ecdsa-sha2-nistp256" as const;
  const blob = Buffer.concat([sshString(keyType), sshString("nistp256"), sshString(point(publicKey))]);
  return { keyType, blob, sign: (data) => Buffer.concat([sshString(keyType), ecdsaNumbers(data, privateKey)]) };
}

export function skEcdsa(application = "ssh:"): SoftKey {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const keyType = "sk-ecdsa-sha2-nistp256@openssh.com" as const;
  const named = [sshString(keyType), sshString("nistp256"), sshString(point(publicKey))];
  return {
    keyType,
    blob: Buffer.concat([...named, sshString(application)]),
    sign: (data, flags, counter) =>
      Buffer.concat([
        sshString(keyType),
        ecdsaNumbers(touched(application, data, flags, counter), privateKey),
        tail(flags, counter),
      ]),
  };
}

export function rsa(bits = 2048, algorithm = "rsa-sha2-512"): SoftKey {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: bits });
  const jwk = publicKey.export({ format: "jwk" });
  const numbers = [jwk.e, jwk.n].map((number) => mpint(Buffer.from(number ?? "", "base64url")));
  const hash = { "rsa-sha2-512": "sha512", "rsa-sha2-256": "sha256" }[algorithm] ?? "sha1";
  return {
    keyType: "ssh-rsa",
    blob: Buffer.concat([sshString("ssh-rsa"), ...numbers]),
    sign: (data) => Buffer.concat([sshString(algorithm), sshString(sign(hash, data, privateKey))]),
  };
}

export interface Oddities {
  namespace?: string;
  hash?: string;
  reserved?: string;
  version?: number;
  magic?: string;
  flags?: number;
  counter?: number;
  /** Put after the signature, inside its field. */
  afterSignature?: Buffer;
  /** Put after the last field. */
  afterAll?: Buffer;
  /** Shown in place of the signer's own key. */
  blob?: Buffer;
}

/** Writes an armoured SSH signature, as it should be but for the oddities asked for. */
export function forge(key: SoftKey, message: Uint8Array, odd: Oddities = {}): string {
  const { namespace = "provision-approval", hash = "sha512", reserved = "", magic = "SSHSIG" } = odd;
  const digest = createHash(hash).update(message).digest();
  const [before, after] = [sshString(namespace), Buffer.concat([sshString(hash), sshString(digest)])];
  const data = Buffer.concat([Buffer.from("SSHSIG"), before, sshString(""), after]);
  const signature = key.sign(data, odd.flags ?? 1, odd.counter ?? 7);
  const bound = [before, sshString(reserved), sshString(hash)];
  const parts = [Buffer.from(magic), sshUint32(odd.version ?? 1), sshString(odd.blob ?? key.blob), ...bound];
  const inner = Buffer.concat([signature, odd.afterSignature ?? Buffer.alloc(0)]);
  return armour("SSH SIGNATURE", Buffer.concat([...parts, sshString(inner), odd.afterAll ?? Buffer.alloc(0)]));
}
