import type { Step } from "../../src/model/plan.ts";
import { expectedValue, OTHER, SUBJECT, targetOf, wantedValue } from "./truth.ts";
import type { World } from "./world.ts";

/** What another administrator does to the thing of a step: to what it wants, to something else, back, or made anew. */
export const EDITS = ["same value", "other value", "back", "made anew"] as const;
export type Edit = (typeof EDITS)[number];

const OTHERS: Readonly<Record<string, string>> = { role: "admin", sessions: "5", credentials: "5" };

/** False where this edit would change nothing, or cannot be made. `now` in milliseconds. */
export function canEdit(world: World, step: Step, edit: Edit): boolean {
  const target = targetOf(step);
  const { value } = world.at(target);
  if (target === "invitation") {
    if (edit === "back" || edit === "made anew") return value === "pending";
    return value !== "pending" && !lives(world);
  }
  if (target === "account") {
    if (!lives(world)) return edit === "same value" && wantedValue(step) === "active";
    if (edit === "same value") return value !== wantedValue(step);
    if (edit === "back") return value !== expectedValue(step);
    return edit === "made anew" || value !== "suspended";
  }
  if (!lives(world)) return false;
  if (edit === "same value") return value !== wantedValue(step);
  if (edit === "back") return value !== expectedValue(step);
  if (edit === "made anew") return value !== null;
  return target in OTHERS;
}

export function edit(world: World, step: Step, what: Edit, now: number): void {
  const target = targetOf(step);
  if (target === "invitation") editInvitation(world, what, now);
  else if (target === "account") editAccount(world, step, what, now);
  else world.put(target, { value: editedValue(world, step, what), owner: "rival", key: null }, now);
}

function editedValue(world: World, step: Step, what: Edit): string | null {
  const target = targetOf(step);
  switch (what) {
    case "same value":
      return wantedValue(step);
    case "back":
      return expectedValue(step);
    case "other value":
      return OTHERS[target] ?? null;
    case "made anew":
      return world.at(target).value;
    default:
      what satisfies never;
      return null;
  }
}

function editInvitation(world: World, what: Edit, now: number): void {
  if (what === "back" || what === "made anew")
    world.put("invitation", { value: "cancelled", owner: "rival", endedBy: "" }, now);
  if (what === "back") return;
  const role = what === "other value" ? "admin" : "guest";
  const id = world.freshId("inv");
  world.put("invitation", { value: "pending", owner: "rival", key: null, endedBy: null, id, role, by: null }, now);
}

function editAccount(world: World, step: Step, what: Edit, now: number): void {
  const { value } = world.at("account");
  const there = value !== null && value !== "deleted";
  if (what === "made anew" || !there) {
    remakeAccount(world, now);
    return;
  }
  const to =
    what === "same value" ? (wantedValue(step) ?? "deleted") : what === "back" ? expectedValue(step) : "suspended";
  world.put("account", { value: to ?? "deleted", owner: "rival", key: null }, now);
}

/** The invited person, or somebody else with the link, accepts. */
export function accept(world: World, who: "invited" | "other", now: number): void {
  const invitation = world.at("invitation");
  const email = who === "invited" ? SUBJECT : OTHER;
  const id = world.freshId("usr");
  const { owner, key } = invitation;
  world.put("account", { value: "active", id, email, owner: "before", key: null }, now);
  world.put("role", { value: invitation.role, owner: "before", key: null }, now);
  world.put("invitation", { value: "accepted", by: { id, email }, owner, key }, now);
}

export function endInvitation(world: World, how: "declined" | "expired", now: number): void {
  const { owner, key } = world.at("invitation");
  world.put("invitation", { value: how, owner, key, endedBy: "" }, now);
}

export function isPending(world: World): boolean {
  return world.at("invitation").value === "pending";
}

/** Whether there is an account that somebody could use. */
export function lives(world: World): boolean {
  const { value } = world.at("account");
  return value !== null && value !== "deleted";
}

export function removeAccount(world: World, now: number): void {
  world.put("account", { value: "deleted", owner: "rival", key: null }, now);
}

/** Another account holds the address from here on, with nothing of what the one before held. */
export function remakeAccount(world: World, now: number): void {
  const id = world.freshId("usr");
  world.put("account", { value: "active", id, email: SUBJECT, owner: "rival", key: null }, now);
  for (const name of Object.keys(world.truth))
    if (name.startsWith("group") || name.startsWith("license"))
      world.put(name, { value: null, owner: "rival", key: null }, now);
  world.put("role", { value: "guest", owner: "rival", key: null }, now);
}
