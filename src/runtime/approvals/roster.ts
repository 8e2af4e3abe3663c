import { ProvisionError, refused } from "../../model/errors.ts";
import { bounded, escapeText, forbiddenCharacters, mixedScript } from "../../model/text.ts";
import { type KeyType, publicKeyOf } from "./pubkey.ts";
import { NAMESPACE } from "./sshsig.ts";
import { readTrusted } from "./trusted.ts";
import { Malformed } from "./wire.ts";

/** One line of the approvers file. Times in milliseconds since 1970; null: no bound. */
export interface RosterEntry {
  principal: string;
  keyType: KeyType;
  blob: Buffer;
  validAfter: number | null;
  validBefore: number | null;
  /** Counts from 1. */
  line: number;
}

/**
 * Reads the approvers file: who may approve, in OpenSSH's `allowed_signers` form, narrowed so that one key is one named
 * person for this one purpose. Any fault refuses the whole file, naming its line, since a half-read roster is another
 * roster. All refusals end with exit 13: `roster_empty`, `roster_owner`, `roster_writable`, `roster_unreadable`, and those
 * of `parseRoster`. `uid` is the user who reads.
 */
export function loadRoster(path: string, uid?: number): RosterEntry[] {
  const file = readTrusted(path, uid);
  if (file.kind === "missing") throw empty(path);
  if (file.kind === "read") return parseRoster(file.bytes, path);
  throw refused(
    `roster_${file.kind}`,
    `Nobody can approve: the approvers file ${escapeText(path)} is not trusted, since ${file.why}.`,
    "It must be a plain file of your own or root's with mode 0644 or less: chown it, then chmod go-w it.",
  );
}

function empty(path: string): ProvisionError {
  return refused(
    "roster_empty",
    `Nobody can approve: the approvers file ${escapeText(path)} is missing or names nobody.`,
    `Add a line: ana@example.test namespaces="${NAMESPACE}" ssh-ed25519 AAAA…`,
  );
}

/**
 * Parses the file's bytes; `name` is for messages. Refusals: `roster_empty`, `wildcard_principal`, `namespace_missing`,
 * `cert_authority`, `roster_malformed`, `duplicate_key`, `key_under_two_names`.
 */
export function parseRoster(bytes: Uint8Array, name: string): RosterEntry[] {
  const entries: RosterEntry[] = [];
  for (const [index, text] of decode(bytes, name).split(/\r?\n/).entries()) {
    if (/^[ \t]*(#|$)/.test(text)) continue;
    const fault = faultAt(name, index + 1);
    const entry = parseLine(text.replace(/^[ \t]+|[ \t]+$/g, ""), index + 1, fault);
    const twin = entries.find(({ blob }) => blob.equals(entry.blob));
    if (twin !== undefined) {
      const other = twin.principal.toLowerCase() !== entry.principal.toLowerCase();
      const code = other ? "key_under_two_names" : "duplicate_key";
      throw fault(code, `its key stands on line ${twin.line} already${other ? ", under another name" : ""}`);
    }
    entries.push(entry);
  }
  if (entries.length === 0) throw empty(name);
  return entries;
}

function decode(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refused("roster_malformed", `Nobody can approve: the approvers file ${escapeText(name)} is no UTF-8 text.`);
  }
}

type Fault = (code: string, why: string) => ProvisionError;

function faultAt(name: string, line: number): Fault {
  return (code, why) => {
    const path = `${escapeText(name)}:${line}`;
    return new ProvisionError(code, 13, `Nobody can approve: the approvers file is refused at ${path}, since ${why}.`, {
      hint: `Mend or remove line ${line}. A line reads: ana@example.test namespaces="${NAMESPACE}" ssh-ed25519 AAAA…`,
      details: [{ path, code, message: why }],
    });
  };
}

/** Options hold no unquoted blank, so that the line falls apart at blanks outside quotes. */
const LINE = /^(\S+)[ \t]+((?:[^\s"]|"[^"]*")+)[ \t]+(.*)$/;

function parseLine(text: string, line: number, fault: Fault): RosterEntry {
  const strange = forbiddenCharacters(text.replaceAll("\t", " ")).find(({ name }) => !name.startsWith("another form"));
  if (strange !== undefined) throw fault("roster_malformed", `it holds ${strange.codePoint} ${strange.name}`);
  const principal = /^\S+/.exec(text)?.[0] ?? "";
  checkPrincipal(principal, fault);
  if (/^\S+[ \t]+(ssh-|sk-|ecdsa-)/.test(text)) throw namespaceMissing(fault);
  const parts = LINE.exec(text);
  if (parts === null) throw fault("roster_malformed", "it is not: name, options, key type, key");
  const options = parseOptions(parts[2]!, fault);
  const key = /^(\S+)[ \t]+(\S+)(?:[ \t].*)?$/.exec(parts[3]!);
  if (key === null) throw fault("roster_malformed", "it holds no key type and key");
  try {
    const { keyType, blob } = publicKeyOf(key[1]!, key[2]!);
    return { principal, keyType, blob, ...options, line };
  } catch (caught) {
    if (caught instanceof Malformed) throw fault("roster_malformed", `its key cannot be taken: ${caught.message}`);
    throw caught;
  }
}

function checkPrincipal(principal: string, fault: Fault): void {
  if (/[*?!,]/.test(principal)) {
    throw fault("wildcard_principal", "its name is a pattern or a list; each key belongs to one person by full name");
  }
  if (/["'\\]/.test(principal) || principal.length > 256)
    throw fault("roster_malformed", "its name is quoted or too long");
  const odd = forbiddenCharacters(principal)[0];
  if (odd !== undefined) throw fault("roster_malformed", `its name holds ${odd.codePoint} ${odd.name}`);
  const scripts = mixedScript(principal);
  if (scripts.length > 0) throw fault("roster_malformed", `its name mixes ${scripts.join(" and ")} letters`);
}

function namespaceMissing(fault: Fault): ProvisionError {
  return fault(
    "namespace_missing",
    `it does not say namespaces="${NAMESPACE}" and nothing else, so a signature made for git or a file could pass for an approval`,
  );
}

function parseOptions(text: string, fault: Fault): Pick<RosterEntry, "validAfter" | "validBefore"> {
  const options = new Map<string, string | null>();
  for (const option of text.match(/(?:[^,"]|"[^"]*")+|(?<=,|^)(?=,|$)/g) ?? []) {
    const parts = /^([a-z-]+)(?:="([^"]*)")?$/.exec(option);
    const name = parts?.[1] ?? "";
    if (name === "cert-authority") throw fault("cert_authority", "certificates cannot approve");
    if (!["namespaces", "valid-after", "valid-before"].includes(name) || parts?.[2] === undefined) {
      throw fault("roster_malformed", `the option ${bounded(escapeText(option), 60) || "(empty)"} is not known here`);
    }
    if (options.has(name)) throw fault("roster_malformed", `the option ${name} stands twice`);
    options.set(name, parts[2]);
  }
  if (options.get("namespaces") !== NAMESPACE) throw namespaceMissing(fault);
  const validAfter = time(options.get("valid-after"), fault);
  const validBefore = time(options.get("valid-before"), fault);
  if (validAfter !== null && validBefore !== null && validAfter >= validBefore) {
    throw fault("roster_malformed", "its time of validity ends before it begins");
  }
  return { validAfter, validBefore };
}

/** `YYYYMMDD`, `YYYYMMDDHHMM` or `YYYYMMDDHHMMSS`; in UTC with a `Z`, else in the local time zone (ssh-keygen(1)). */
function time(text: string | null | undefined, fault: Fault): number | null {
  if (text === undefined || text === null) return null;
  const parts = /^(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?(Z?)$/.exec(text);
  const wrong = () =>
    fault("roster_malformed", `the time ${bounded(escapeText(text), 40)} is not YYYYMMDD[HHMM[SS]][Z]`);
  if (parts === null) throw wrong();
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map((part) => Number(part ?? 0)) as Six;
  const utc = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  const exists = [utc.getUTCMonth() + 1, utc.getUTCDate(), utc.getUTCHours(), utc.getUTCMinutes(), utc.getUTCSeconds()];
  if (year < 1970 || exists.join() !== [month, day, hour, minute, second].join()) throw wrong();
  return parts[7] === "Z" ? utc.getTime() : new Date(year, month - 1, day, hour, minute, second).getTime();
}

type Six = [number, number, number, number, number, number];
