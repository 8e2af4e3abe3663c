import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { idempotencyKey } from "../../src/core/key.ts";
import { forbidden, HASH, planOf, role, roleIs } from "./build.ts";
import { running } from "./story.ts";

/** The key by hand: base32 of RFC 4648 as a number in base 32, its digits in lower case. */
function byHand(material: string): string {
  const hex = createHash("sha256").update(material, "utf8").digest("hex");
  // 256 bits and four zero bits make 52 digits of five bits each.
  const digits = (BigInt(`0x${hex}`) << 4n).toString(32).padStart(52, "0");
  return [...digits].map((digit) => "abcdefghijklmnopqrstuvwxyz234567"[Number.parseInt(digit, 32)]).join("");
}

test.each([
  [1, "apply", 1, "apply"],
  [3, "apply", 2, "apply"],
  [12, "rollback", 1, "undo"],
] as const)("the key of step %i, %s, try %i is the digest that anyone can compute", (step, phase, number, word) => {
  const key = idempotencyKey(HASH, step, phase, number);
  expect(key).toBe(byHand(`provision/idempotency/v1\0${HASH}\0${step}\0${word}\0${number}`));
  expect(key).toMatch(/^[a-z2-7]{52}$/);
});

test("a known key stays what it is, since a service may remember it", () => {
  expect(idempotencyKey(`sha256:${"0".repeat(64)}`, 1, "apply", 1)).toBe(
    "nn7aj5hxtkozmlgzgvkzucta7wsqlx5hwqmcvomkr2yty6crygxq",
  );
});

test("plan, step, direction and try each make another key", () => {
  const keys = [
    idempotencyKey(HASH, 1, "apply", 1),
    idempotencyKey(`sha256:${"b".repeat(64)}`, 1, "apply", 1),
    idempotencyKey(HASH, 2, "apply", 1),
    idempotencyKey(HASH, 1, "rollback", 1),
    idempotencyKey(HASH, 1, "apply", 2),
    idempotencyKey(HASH, 11, "apply", 1),
    idempotencyKey(HASH, 1, "apply", 11),
  ];
  expect(new Set(keys).size).toBe(keys.length);
});

test("every attempt of one try has the same key, whatever process makes it; only a person's act changes it", () => {
  const story = running(planOf([role()]));
  const tenant = { read: () => roleIs("guest"), reply: () => ({ kind: "not_sent" as const, detail: "" }) };
  story.play(tenant);
  story.lease().play(tenant);
  const keys = () => story.entries.flatMap((entry) => (entry.kind === "step.requested" ? [entry.key] : []));
  expect(keys().length).toBe(10);
  expect(new Set(keys())).toEqual(new Set([idempotencyKey(HASH, 1, "apply", 1)]));
  story.lease().play({ read: () => roleIs("guest"), reply: () => forbidden });
  expect(new Set(keys()).size).toBe(1);
  story.add({ kind: "step.retried", step: 1, by: "os:kim" }).approve().lease().play(tenant);
  expect(keys().at(-1)).toBe(idempotencyKey(HASH, 1, "apply", 2));
});
