import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import { invalid } from "../../../src/model/errors.ts";
import { keysSchema } from "./keys.ts";
import { worldSchema } from "./world.ts";

const text = z.string().nullable();

/** All that a tenant keeps in its state file. */
const savedSchema = z.strictObject({
  version: z.literal(1),
  counts: z.record(z.string(), z.number()),
  world: worldSchema,
  keys: keysSchema,
  audit: z.array(
    z.strictObject({
      id: z.string(),
      at: z.string(),
      token: text,
      actor: z.string(),
      action: z.string(),
      target: z.string(),
      idempotency_key: text,
      request_id: text,
      applied: z.boolean(),
      status: z.number(),
    }),
  ),
  requests: z.array(
    z.strictObject({
      seq: z.number(),
      at: z.string(),
      method: z.string(),
      path: z.string(),
      action: text,
      token: text,
      idempotency_key: text,
      if_match: text,
      status: z.number().nullable(),
      applied: z.boolean(),
      request_id: z.string(),
    }),
  ),
});
export type Saved = z.infer<typeof savedSchema>;

/**
 * Reads a state file. @returns undefined where there is none yet
 * @throws ProvisionError `sandbox_state` (exit 2) where it is not one of ours
 */
export function loadSaved(file: string): Saved | undefined {
  let content: string;
  try {
    content = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw unusable(file, (error as Error).message);
  }
  try {
    return savedSchema.parse(JSON.parse(content));
  } catch (error) {
    throw unusable(file, error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message);
  }
}

function unusable(file: string, why: string) {
  return invalid(
    "sandbox_state",
    `The sandbox state in ${file} cannot be used: ${why}`,
    [],
    "Name another --state file, or remove this one to begin from the seed.",
  );
}

/** Keeps a state file. Whoever reads it finds the whole of one state, never half of two. */
export function keeper(file: string): { save(saved: () => Saved): void; close(): void } {
  let waiting: (() => Saved) | undefined;
  let closed = false;
  mkdirSync(dirname(file), { recursive: true });
  const flush = (): void => {
    if (waiting === undefined) return;
    const content = JSON.stringify(waiting());
    waiting = undefined;
    writeFileSync(`${file}.new`, content, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  };
  return {
    /** Changes made in one turn of the loop are written once, ahead of any answer that tells of them. */
    save(saved) {
      if (closed) return;
      if (waiting === undefined) queueMicrotask(flush);
      waiting = saved;
    },
    close() {
      flush();
      closed = true;
    },
  };
}
