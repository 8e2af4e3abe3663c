import { isAbsolute, join } from "node:path";
import type { CredentialSource } from "../model/config.ts";
import { invalid, ProvisionError } from "../model/errors.ts";
import type { CredentialClass } from "../model/provider.ts";
import { type Issued, issuedBy } from "./credential-command.ts";
import { decodeUtf8, readBounded } from "./files.ts";
import { clean, type Secret } from "./secret.ts";

/** The tokens of one tenant, each asked for by class and read at its first use, never ahead of it. */
export interface Credentials {
  /** @throws exit 2, or 12 where the source gave a token before; nothing of a token stands in any message. */
  load(wanted: CredentialClass): Promise<Secret>;
  /** Goes to the source again, for instance after a 401. The token may be the same as before. */
  refresh(wanted: CredentialClass): Promise<Secret>;
  has(wanted: CredentialClass): boolean;
  /** The account that the configuration names behind the credential. */
  accountOf(wanted: CredentialClass): string | undefined;
  /** Tokens read so far, for the check that none of them is about to be stored. */
  live(): readonly Secret[];
}

export interface CredentialOptions {
  /** The folder of the configuration; paths are relative to it. */
  dir: string;
  env: NodeJS.ProcessEnv;
  /** Milliseconds since 1970, to judge `expires_at`. */
  nowMs?: () => number;
  /** How long a command may take. */
  commandMs?: number;
}

type Sources = { [name in CredentialClass]?: CredentialSource | undefined };

const LONGEST_FILE = 16_384;
/** A step is not begun with less than this left on its token. */
const SHORTEST_LIFE_MS = 60_000;

export function credentials(tenant: { name: string; credentials: Sources }, options: CredentialOptions): Credentials {
  const held = new Map<CredentialClass, Promise<Issued>>();
  const seen: Secret[] = [];
  /** Classes whose source gave a token before: its failure is no fault of the configuration any more. */
  const had = new Set<CredentialClass>();
  const nowMs = options.nowMs ?? Date.now;

  const ends = ({ expiresAtMs }: Issued): boolean => expiresAtMs !== null && expiresAtMs - nowMs() < SHORTEST_LIFE_MS;

  async function fetch(wanted: CredentialClass): Promise<Secret> {
    const source = tenant.credentials[wanted];
    if (source === undefined) throw missing(tenant.name, wanted);
    const where = `the ${wanted} credential of ${tenant.name}`;
    const asked = issue(source, where, options);
    held.set(wanted, asked);
    try {
      const issued = await asked;
      if (ends(issued)) throw tooShort(where);
      if (!seen.some((secret) => secret.equals(issued.secret))) seen.push(issued.secret);
      had.add(wanted);
      return issued.secret;
    } catch (error) {
      if (held.get(wanted) === asked) held.delete(wanted);
      throw had.has(wanted) ? notAgain(error) : error;
    }
  }

  return {
    async load(wanted) {
      const asked = held.get(wanted);
      if (asked === undefined) return fetch(wanted);
      const before = await asked;
      return ends(before) ? fetch(wanted) : before.secret;
    },
    refresh: fetch,
    has: (wanted) => tenant.credentials[wanted] !== undefined,
    accountOf: (wanted) => tenant.credentials[wanted]?.account,
    live: () => seen,
  };
}

async function issue(source: CredentialSource, where: string, options: CredentialOptions): Promise<Issued> {
  if (source.env !== undefined) return { secret: fromEnv(source.env, where, options.env), expiresAtMs: null };
  if (source.file !== undefined) return { secret: fromFile(source.file, where, options.dir), expiresAtMs: null };
  if (source.command !== undefined) {
    const { dir: cwd, env, commandMs: timeMs = 10_000 } = options;
    return issuedBy(source.command, `command for ${where}`, { cwd, env, timeMs });
  }
  const hint = "Use env, file or command instead.";
  throw invalid(
    "keyring_unavailable",
    `The configuration keeps ${where} in a keyring, which cannot be read yet.`,
    [],
    hint,
  );
}

function fromEnv(name: string, where: string, env: NodeJS.ProcessEnv): Secret {
  const value = env[name];
  if (value !== undefined) return clean(value, `The variable ${name}, ${where},`);
  throw invalid("credential_unset", `The variable ${name}, ${where}, is not set.`, [], `Set ${name} and try again.`);
}

function fromFile(file: string, where: string, dir: string): Secret {
  const path = isAbsolute(file) ? file : join(dir, file);
  const { bytes, stats } = read(path, where);
  if (process.platform !== "win32" && (stats.mode & 0o077) !== 0) {
    const mode = (stats.mode & 0o777).toString(8).padStart(4, "0");
    const message = `${path}, ${where}, is open to others (mode ${mode}); a token file must have mode 0600.`;
    throw invalid(
      "credential_file_open",
      message,
      [{ path, code: "credential_file_open", found: mode, allowed: "0600" }],
      `chmod 600 ${path}`,
    );
  }
  return clean(decodeUtf8(bytes, path), `The file ${path}, ${where},`);
}

function read(path: string, where: string): ReturnType<typeof readBounded> {
  try {
    return readBounded(path, LONGEST_FILE, where);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "file_not_found")) throw error;
    const hint = "Write the token there with mode 0600. A sandbox writes its tokens at `provision sandbox start`.";
    throw invalid("credential_unset", error.message, [], hint);
  }
}

function missing(tenant: string, wanted: CredentialClass): Error {
  const message = `The tenant ${tenant} has no ${wanted} credential, and this needs one.`;
  const hint = `Name its source under tenants.${tenant}.credentials.${wanted} in provision.yaml: env, file or command.`;
  return invalid(
    "credential_missing",
    message,
    [{ path: `tenants.${tenant}.credentials.${wanted}`, code: "missing" }],
    hint,
  );
}

function tooShort(where: string): Error {
  const seconds = SHORTEST_LIFE_MS / 1000;
  const message = `The source of ${where} gave a token that ends within ${seconds} seconds; no step is begun with it.`;
  return invalid("credential_expired", message, [], "See to it that the source gives a fresh token.");
}

/** What worked a moment ago does not any more: a run can go on later with the same configuration. */
function notAgain(error: unknown): unknown {
  if (!(error instanceof ProvisionError)) return error;
  const { code, message, hint = "", details } = error;
  return new ProvisionError(code, 12, `${message} It gave a token before.`, {
    hint: `${hint} Then run again.`.trim(),
    details,
  });
}
