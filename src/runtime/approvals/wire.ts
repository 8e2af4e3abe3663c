/** Bytes from outside that do not have the form they should. Each reader of this folder turns it into its own refusal. */
export class Malformed extends Error {}

export interface Reader {
  byte(): number;
  uint32(): number;
  uint64(): bigint;
  /** Exactly so many bytes. */
  bytes(length: number): Buffer;
  /** A length as uint32, then so many bytes (RFC 4251, section 5). */
  string(): Buffer;
  /** A string of printable ASCII. */
  ascii(): string;
  /** A positive mpint in its shortest form, without its sign byte. */
  positive(): Buffer;
  left(): number;
  /** Nothing may follow. */
  end(): void;
}

/** Reads SSH wire forms from front to back; whatever is short, long or not in its one form is `Malformed`. */
export function reader(source: Uint8Array): Reader {
  const buffer = Buffer.from(source.buffer, source.byteOffset, source.length);
  let at = 0;
  function bytes(length: number): Buffer {
    if (length > buffer.length - at) throw new Malformed("it ends too early");
    at += length;
    return buffer.subarray(at - length, at);
  }
  const uint32 = () => bytes(4).readUInt32BE();
  const string = () => bytes(uint32());
  return {
    byte: () => bytes(1).readUInt8(),
    uint32,
    uint64: () => bytes(8).readBigUInt64BE(),
    bytes,
    string,
    ascii() {
      const text = string().toString("latin1");
      if (!/^[\x21-\x7e]*$/.test(text)) throw new Malformed("a name is not plain ASCII");
      return text;
    },
    positive() {
      const value = string();
      const [first, second] = [value[0] ?? 0, value[1] ?? 0];
      if (first >= 0x80 || (first === 0 && second < 0x80)) throw new Malformed("a number is not in its shortest form");
      return first === 0 ? value.subarray(1) : value;
    },
    left: () => buffer.length - at,
    end() {
      if (at !== buffer.length) throw new Malformed("something follows its end");
    },
  };
}

/** A length as uint32, then the bytes. */
export function sshString(value: Uint8Array | string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([sshUint32(bytes.length), bytes]);
}

export function sshUint32(value: number): Buffer {
  const out = Buffer.alloc(4);
  out.writeUInt32BE(value);
  return out;
}

/** Padded base64 in the one spelling that encoding gives, else `Malformed`. */
export function strictBase64(text: string): Buffer {
  const bytes = Buffer.from(text, "base64");
  if (text === "" || bytes.toString("base64") !== text) throw new Malformed("its base64 is not in canonical form");
  return bytes;
}

/** The armour that OpenSSH writes: 70 columns, one newline at the end. */
export function armour(label: string, bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString("base64")
      .match(/.{1,70}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}

/** The bytes inside exactly such an armour: other line lengths, spaces, headers or text around it are `Malformed`. */
export function unarmour(label: string, text: string, longest: number): Buffer {
  if (text.length > longest) throw new Malformed("it is too long");
  const bytes = strictBase64(text.split("\n").slice(1, -2).join(""));
  if (armour(label, bytes) !== text) throw new Malformed("its armour is not as OpenSSH writes it");
  return bytes;
}

/** Runs a reading of bytes from outside and answers every fault in them by the refusal that `refuse` makes. */
export function reading<T>(read: () => T, refuse: (why: string) => Error): T {
  try {
    return read();
  } catch (fault) {
    if (fault instanceof Malformed) throw refuse(fault.message);
    throw fault;
  }
}
