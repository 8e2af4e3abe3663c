import { z } from "zod";
import type { Answer } from "./outcome.ts";

const keptSchema = z.strictObject({
  fingerprint: z.string(),
  answer: z.strictObject({ status: z.number(), body: z.unknown(), headers: z.record(z.string(), z.string()) }),
});
/** Keys with what they were used for and what was answered, as the state file keeps them. */
export const keysSchema = z.record(z.string(), keptSchema);
export type KeptKeys = z.infer<typeof keysSchema>;

export type Claim =
  | { kind: "mine" }
  | { kind: "replay"; answer: Answer }
  | { kind: "another_request" }
  | { kind: "in_flight"; over: Promise<void> };

/**
 * Idempotency keys, reserved on arrival and remembered for good. Whoever comes second with a key waits until the
 * first is through, and then gets its answer; or does the work, where the first was lost ahead of it.
 */
export function keyRing(kept: Map<string, KeptKeys[string]>) {
  const flying = new Map<string, { fingerprint: string; over: Promise<void>; end: () => void }>();
  const land = (key: string): void => {
    flying.get(key)?.end();
    flying.delete(key);
  };
  return {
    claim(key: string, fingerprint: string): Claim {
      const known = kept.get(key) ?? flying.get(key);
      if (known !== undefined && known.fingerprint !== fingerprint) return { kind: "another_request" };
      if (known !== undefined && "answer" in known) return { kind: "replay", answer: known.answer };
      if (known !== undefined) return { kind: "in_flight", over: known.over };
      let end = (): void => {};
      const over = new Promise<void>((resolve) => {
        end = resolve;
      });
      flying.set(key, { fingerprint, over, end });
      return { kind: "mine" };
    },
    /** The request was decided: from now on its key gives this answer. */
    settle(key: string, given: Answer): void {
      const fingerprint = flying.get(key)?.fingerprint;
      if (fingerprint !== undefined) kept.set(key, { fingerprint, answer: given });
      land(key);
    },
    /** The request never reached its decision: the key is free again. */
    release: land,
  };
}
export type KeyRing = ReturnType<typeof keyRing>;
