import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { invalid, ProvisionError, refused } from "../../model/errors.ts";
import { escapeText } from "../../model/text.ts";
import { isHardware, type KeyType, parsePublicLine, publicLine } from "./pubkey.ts";
import type { RosterEntry } from "./roster.ts";
import { type KeyKind, readKeyFile } from "./sshkey.ts";
import { NAMESPACE, signSshsig, verifySshsig } from "./sshsig.ts";
import { runTool, type ToolOptions } from "./tool.ts";
import { Malformed } from "./wire.ts";

/** Where the private half is: a file (or the `.pub` of a key in the agent), or a key that the agent listed. */
export type KeySource = { keyFile: string } | { agentKey: { keyType: KeyType; blob: Uint8Array } };

export interface Signed {
  armoured: string;
  /** How the key was kept; a `plain-file` counts only where the configuration allows software keys. */
  kind: KeyKind;
  keyType: KeyType;
  publicKeyBlob: Buffer;
}

/**
 * Signs a statement for the approval namespace. A plain Ed25519 file is used here; a passphrase, an agent and a security
 * key are ssh-keygen's business, whose signature is checked before it is handed on.
 * Throws what `readKeyFile` throws; `passphrase_needed` (exit 3) where nobody may be asked; `ssh_keygen_missing` (exit 2);
 * `signing_failed` (exit 13).
 */
export async function signWith(source: KeySource, message: Uint8Array, options: ToolOptions = {}): Promise<Signed> {
  if ("agentKey" in source) return byAgent(source.agentKey, message, options);
  const key = readKeyFile(source.keyFile);
  if (key.signer !== null && key.publicKey !== null) {
    return checked(
      signSshsig(message, { blob: key.publicKey.blob, signer: key.signer }),
      message,
      key.kind,
      key.publicKey.blob,
    );
  }
  if (key.kind === "encrypted-file" && options.ask !== true) throw passphraseNeeded(source.keyFile);
  const inAgent = key.kind === "agent" || source.keyFile.endsWith(".pub");
  return bySshKeygen(source.keyFile, inAgent, message, options, key);
}

function passphraseNeeded(file: string): ProvisionError {
  const message = `The key ${escapeText(file)} has a passphrase and there is nobody to ask for it.`;
  const hint = "Run it in a terminal, or add the key to your ssh agent and name its .pub file by --key.";
  return new ProvisionError("passphrase_needed", 3, message, { hint });
}

/** ssh-keygen takes the public half of an agent's key by file only. */
async function byAgent(
  key: { keyType: KeyType; blob: Uint8Array },
  message: Uint8Array,
  options: ToolOptions,
): Promise<Signed> {
  const folder = mkdtempSync(join(tmpdir(), "provision-key-"));
  try {
    const file = join(folder, "key.pub");
    writeFileSync(file, publicLine(key.keyType, key.blob, ""), { mode: 0o600 });
    const kind = isHardware(key.keyType) ? "hardware" : "agent";
    return await bySshKeygen(file, true, message, options, { kind, publicKey: { blob: Buffer.from(key.blob) } });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function bySshKeygen(
  file: string,
  inAgent: boolean,
  message: Uint8Array,
  options: ToolOptions,
  key: { kind: KeyKind; publicKey: { blob: Buffer } | null },
): Promise<Signed> {
  // Over standard input: with a file, an old signature beside it can be kept in place of a new one.
  const agent = inAgent ? ["-U"] : [];
  const ended = await runTool(["ssh-keygen", "-Y", "sign", ...agent, "-f", file, "-n", NAMESPACE], message, options);
  if (ended.kind === "missing") {
    throw invalid(
      "ssh_keygen_missing",
      "This key needs ssh-keygen to sign, and it is not installed.",
      [],
      "Install OpenSSH (openssh-client), or sign with an Ed25519 key file that has no passphrase.",
    );
  }
  if (ended.rc !== 0) {
    const how = ended.rc === null ? "was ended" : `ended with ${ended.rc}`;
    throw signingFailed(`ssh-keygen ${how}${ended.said === "" ? "" : `, saying: ${ended.said}`}`);
  }
  return checked(ended.stdout, message, key.kind, key.publicKey?.blob ?? null);
}

function signingFailed(why: string): ProvisionError {
  const hint =
    "Nothing was approved. Check the passphrase, that the agent holds the key, and that the security key was touched.";
  return refused("signing_failed", `The statement was not signed: ${why}.`, hint);
}

/** No signature leaves here that a verifier would refuse, or that another key made. */
function checked(armoured: string, message: Uint8Array, kind: KeyKind, expected: Buffer | null): Signed {
  const { keyType, publicKeyBlob, namespace } = verifySshsig(armoured, message);
  if (namespace !== NAMESPACE) throw signingFailed("the signature is for another namespace");
  if (expected !== null && !expected.equals(publicKeyBlob))
    throw signingFailed("another key signed than the one named");
  return { armoured, kind, keyType, publicKeyBlob };
}

/**
 * The roster's entries whose private half the ssh agent offers, in the agent's order. No agent, no `ssh-add` and no
 * keys all give none.
 */
export async function agentCandidates(
  roster: readonly RosterEntry[],
  options: ToolOptions = {},
): Promise<(RosterEntry & { kind: "agent" | "hardware" })[]> {
  const listed = await runTool(["ssh-add", "-L"], new Uint8Array(), options);
  if (listed.kind === "missing" || listed.rc !== 0) return [];
  const blobs = listed.stdout.split("\n").flatMap((line) => blobOf(line) ?? []);
  return blobs.flatMap((blob) => {
    const entry = roster.find((one) => one.blob.equals(blob));
    return entry === undefined ? [] : [{ ...entry, kind: isHardware(entry.keyType) ? "hardware" : "agent" } as const];
  });
}

/** Null for certificates and types that could not approve anyway. */
function blobOf(line: string): Buffer | null {
  try {
    return parsePublicLine(line).blob;
  } catch (fault) {
    if (fault instanceof Malformed) return null;
    throw fault;
  }
}
