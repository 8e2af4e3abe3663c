import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { ProvisionError, refused } from "../model/errors.ts";
import { isHardware } from "../runtime/approvals/pubkey.ts";
import type { RosterEntry } from "../runtime/approvals/roster.ts";
import { agentCandidates, type KeySource, signWith } from "../runtime/approvals/sign.ts";
import { readKeyFile } from "../runtime/approvals/sshkey.ts";
import type { Desk } from "./desk.ts";

/** A key that stands in the roster, ready to sign. */
export interface Signer {
  entry: RosterEntry;
  /** How it is kept; on the way to the screen. */
  kind: string;
  sign(bytes: Uint8Array): Promise<string>;
}

/**
 * The approver's key: the one that was named; for a sandbox tenant the one in the project's own folder; else the first
 * that the ssh agent offers and the roster knows. A plain key file outside the sandbox only where software keys are
 * allowed.
 */
export async function chooseKey(
  desk: Desk,
  sandbox: boolean,
  roster: readonly RosterEntry[],
  options: { keyFile: string | null; ask: boolean },
): Promise<Signer> {
  const { shell, loaded } = desk;
  const own = join(loaded.stateDir, "keys", "approver");
  const file = options.keyFile !== null ? resolve(shell.cwd, options.keyFile) : sandbox && existsSync(own) ? own : null;
  if (file !== null) return fromFile(desk, file, sandbox, roster, options.ask);
  const [first] = await agentCandidates(roster, { env: shell.env });
  if (first)
    return {
      entry: first,
      kind: first.kind,
      sign: async (bytes) =>
        (await signWith({ agentKey: first }, bytes, { env: shell.env, ask: options.ask })).armoured,
    };
  throw refused(
    "no_key",
    "There is no approver's key at hand: none was named, and the ssh agent offers none that stands in the approvers file.",
    "Name one: --key FILE",
  );
}

function fromFile(desk: Desk, file: string, sandbox: boolean, roster: readonly RosterEntry[], ask: boolean): Signer {
  const key = readKeyFile(file);
  const blob = key.publicKey?.blob;
  const entry = blob && roster.find((one) => one.blob.equals(blob));
  if (!entry)
    throw new ProvisionError("unknown_key", 13, `The key in ${file} does not stand in the approvers file.`, {
      hint: "Somebody who stands there must decide.",
    });
  if (
    key.kind === "plain-file" &&
    !sandbox &&
    desk.loaded.config.approvals?.software_keys !== "allow" &&
    !isHardware(entry.keyType)
  )
    throw refused(
      "software_key",
      `The key in ${file} has no passphrase, and this configuration does not allow such keys.`,
      "Use a key with a passphrase, an agent or a security key; or approvals: { software_keys: allow }.",
    );
  const source: KeySource = { keyFile: file };
  return {
    entry,
    kind: key.kind,
    sign: async (bytes) => (await signWith(source, bytes, { env: desk.shell.env, ask })).armoured,
  };
}
