import { describe, expect, test } from "vitest";
import type { Reply } from "../../src/model/reply.ts";
import { absent, expired401, forbidden, group, lost, member, ok, planOf, type Read, unreadable } from "./build.ts";
import { type Played, running, type Story, type Tenant } from "./story.ts";

const PLAN = planOf([group()]);

const accepted202: Reply = { kind: "accepted", status: 202, asynchronous: true };
const notSent: Reply = { kind: "not_sent", detail: "connection refused" };
const throttled: Reply = { kind: "throttled", status: 429, retryAt: null, detail: "slow down" };
const failed500: Reply = { kind: "lost", status: 500, detail: "server error" };
const conflict: Reply = { kind: "conflict", status: 412, code: "precondition_failed", detail: "another version" };
const gone: Reply = { kind: "gone", status: 404, code: "not_found", detail: "no such thing" };
const rejected: Reply = { kind: "rejected", status: 422, code: "invalid", detail: "not allowed" };

/** Ahead of the write the group is as the plan expects; after it, reads show this. */
function showing(after: Read, reply: Reply): Tenant {
  return { read: ({ purpose }) => (purpose === "before" ? absent : after), reply: () => reply };
}

/** What was concluded, whose it is, and how often it was sent. */
function outcome(story: Story, { sends }: Played): string {
  const receipt = story.state.steps[0]?.receipt;
  const attribution = receipt?.attribution ?? (receipt?.ours ? "ours" : "-");
  return receipt ? `${receipt.result} ${attribution} x${sends.length}` : `${story.name()} - x${sends.length}`;
}

function played(reply: Reply, after: Read, keys: boolean): string {
  const story = running(PLAN);
  story.facts = { keys };
  return outcome(story, story.play(showing(after, reply)));
}

/** One row of the reply table: what follows where reads show the wanted state, its proven absence, or nothing. */
type Row = [name: string, reply: Reply, wanted: string, absent: string, unreadable: string];

const WITHOUT_KEYS: Row[] = [
  ["accepted", ok, "added proven x1", "no_effect - x1", "unknown - x1"],
  ["202", accepted202, "added proven x1", "unknown - x1", "unknown - x1"],
  ["lost", lost, "added presumed x1", "paused - x5", "unknown - x1"],
  ["5xx", failed500, "added presumed x1", "paused - x5", "unknown - x1"],
  ["not sent", notSent, "already_present - x1", "paused - x5", "paused - x1"],
  ["throttled", throttled, "added presumed x1", "paused - x5", "paused - x1"],
  ["409 or 412", conflict, "added presumed x1", "conflict - x1", "unknown - x1"],
  ["404 or 410", gone, "added presumed x1", "conflict - x1", "unknown - x1"],
  ["400 or 422", rejected, "added presumed x1", "rejected - x1", "unknown - x1"],
  ["401", expired401, "added presumed x2", "paused - x2", "paused - x2"],
  ["403", forbidden, "added presumed x1", "denied - x1", "unknown - x1"],
];

// Where the service remembers keys, one more send with the same key may prove whose the change is.
const WITH_KEYS: Row[] = [
  ["accepted", ok, "added proven x1", "no_effect - x1", "unknown - x1"],
  ["202", accepted202, "added proven x1", "unknown - x1", "unknown - x1"],
  ["lost", lost, "added presumed x2", "paused - x5", "unknown - x1"],
  ["5xx", failed500, "added presumed x2", "paused - x5", "unknown - x1"],
  ["not sent", notSent, "already_present - x1", "paused - x5", "paused - x1"],
  ["throttled", throttled, "added presumed x1", "paused - x5", "paused - x1"],
  ["409 or 412", conflict, "added presumed x1", "conflict - x1", "unknown - x1"],
  ["404 or 410", gone, "added presumed x1", "conflict - x1", "unknown - x1"],
  ["400 or 422", rejected, "added presumed x1", "rejected - x1", "unknown - x1"],
  ["401", expired401, "added presumed x2", "paused - x2", "paused - x2"],
  ["403", forbidden, "added presumed x1", "denied - x1", "unknown - x1"],
];

describe.each([
  ["where the service knows no keys", false, WITHOUT_KEYS],
  ["where the service remembers keys", true, WITH_KEYS],
] as const)("%s", (_, keys, rows) => {
  describe.each(rows)("a write that was answered: %s", (_name, reply, wanted, proven, unread) => {
    test("reads show what was wanted", () => expect(played(reply, member(), keys)).toBe(wanted));
    test("complete reads show that nothing happened", () => expect(played(reply, absent, keys)).toBe(proven));
    test("nothing can be read", () => expect(played(reply, unreadable, keys)).toBe(unread));
  });
});
