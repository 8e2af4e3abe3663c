import { spawn } from "node:child_process";
import { z } from "zod";
import { invalid } from "../model/errors.ts";
import { errnoOf } from "./files.ts";
import { clean, type Secret } from "./secret.ts";

export interface Issued {
  secret: Secret;
  /** In milliseconds since 1970; null where the source does not say. */
  expiresAtMs: number | null;
}

export interface CommandOptions {
  cwd: string;
  env: NodeJS.ProcessEnv;
  timeMs: number;
}

const LONGEST_OUTPUT = 16_384;

/** What a command may print instead of the bare token. */
const Printed = z.strictObject({
  version: z.literal(1).optional(),
  token: z.string(),
  expires_at: z.iso.datetime({ offset: true }).nullish(),
  scopes: z.unknown().optional(),
});

/**
 * Runs the command without a shell, with PATH, HOME and LANG alone, and takes what it prints as the token.
 *
 * What it prints is never shown, on stdout or stderr: token helpers write tokens to both when something goes wrong.
 * @param where - How messages call it: "command for the read credential of acme".
 * @throws exit 2: `credential_command` (not started, failed, too slow, too much), `credential_malformed`.
 */
export async function issuedBy(argv: readonly string[], where: string, options: CommandOptions): Promise<Issued> {
  const printed = await output(argv, where, options);
  if (!printed.trimStart().startsWith("{"))
    return { secret: clean(printed, `What the ${where} printed`), expiresAtMs: null };
  const parsed = Printed.safeParse(asJson(printed));
  if (parsed.error !== undefined) {
    const keys = parsed.error.issues.map((issue) => issue.path.join(".") || "the whole").join(", ");
    const message = `The ${where} printed JSON of another form (${keys}) than {"token","expires_at"}.`;
    throw invalid("credential_malformed", message, [], "What it printed is not shown, since it may hold the token.");
  }
  const { token, expires_at: expires } = parsed.data;
  return {
    secret: clean(token, `The token that the ${where} printed`),
    expiresAtMs: expires ? Date.parse(expires) : null,
  };
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function output(argv: readonly string[], where: string, options: CommandOptions): Promise<string> {
  const [program = "", ...rest] = argv;
  const { PATH = "/usr/local/bin:/usr/bin:/bin", HOME, LANG } = options.env;
  const env = { PATH, ...(HOME !== undefined && { HOME }), ...(LANG !== undefined && { LANG }) };
  return new Promise((resolve, reject) => {
    const child = spawn(program, rest, { cwd: options.cwd, env, shell: false, stdio: ["ignore", "pipe", "ignore"] });
    const chunks: Buffer[] = [];
    let size = 0;
    const stop = (why: string): void => {
      clearTimeout(timer);
      child.kill("SIGKILL");
      // A grandchild may hold the pipe open for ever; nobody waits for it.
      child.stdout.destroy();
      reject(failed(where, why));
    };
    const timer = setTimeout(() => stop(`did not end within ${options.timeMs} ms`), options.timeMs);
    child.on("error", (error) => stop(`could not be started (${errnoOf(error)})`));
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > LONGEST_OUTPUT) stop(`printed more than ${LONGEST_OUTPUT} bytes`);
      else chunks.push(chunk);
    });
    child.on("close", (code, signal) => {
      if (code !== 0) return stop(`ended with ${signal ?? `exit code ${code}`}`);
      clearTimeout(timer);
      resolve(Buffer.concat(chunks).toString("utf8"));
    });
  });
}

function failed(where: string, why: string): Error {
  const hint =
    "Run the command by hand to see what it says; its output is never shown here, since it may hold the token.";
  return invalid("credential_command", `The ${where} ${why}.`, [], hint);
}
