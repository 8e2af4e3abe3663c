import { hash } from "node:crypto";
import type { Phase } from "../model/entry.ts";
import { base32 } from "../model/ids.ts";

/** Keys made last; each is asked for at every attempt. */
const made = new Map<string, string>();

/**
 * One key for every attempt of one try of one step in one direction. The plan hash covers operation id, salt, tenant
 * and time, so that two journals never make the same key for different work.
 */
export function idempotencyKey(planHash: string, step: number, phase: Phase, tryNumber: number): string {
  const direction = phase === "apply" ? "apply" : "undo";
  const material = `provision/idempotency/v1\0${planHash}\0${step}\0${direction}\0${tryNumber}`;
  const known = made.get(material);
  if (known !== undefined) return known;
  if (made.size > 1000) made.clear();
  const key = base32(hash("sha256", material, "buffer"));
  made.set(material, key);
  return key;
}
