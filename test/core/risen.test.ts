import { describe, expect, test } from "vitest";
import { cardsFor } from "../../src/core/card.ts";
import type { Payload } from "../../src/model/entry.ts";
import { absent, group, HOUR, member, planOf, role, roleIs } from "./build.ts";
import { running, type Story } from "./story.ts";

/** The first step is done; ahead of the second it turns out that the account holds an elevated role. */
function risen(): Story {
  const story = running(planOf([role(), group()])).receipt(1, { after: roleIs("member") });
  return sees(story);
}

function sees(story: Story, rises: "elevated" | "unproven" = "elevated"): Story {
  const head = { phase: "apply" as const, epoch: story.epoch, reads: [] };
  const read_at = new Date(story.clock).toISOString();
  return story.add({ kind: "step.observed", step: 2, purpose: "before", reading: absent, rises, read_at, ...head });
}

const last = (story: Story, kind: Payload["kind"]) => story.entries.findLast((entry) => entry.kind === kind);

describe("a step that the plan decided, of an account that is elevated by now", () => {
  test("is asked for by itself, what covered it is spent for it alone, and nothing is sent", () => {
    const story = risen();
    expect(story.decide()).toEqual({ kind: "halt" });
    expect(last(story, "approval.spent")).toMatchObject({ steps: [2], why: "its gate has risen" });
    expect(last(story, "approval.requested")).toMatchObject({ steps: [2], gate: "call", risen: "elevated" });
    expect(story.pending()).toMatchObject({ steps: [2], readings: { 2: absent } });
    expect([story.name(), story.document().steps[1]?.approval]).toEqual(["awaiting_approval", "needed"]);
    expect(story.document().steps[0]?.approval).not.toBe("needed");
  });

  test("is shown on a card that says why, and decided for an hour on this reading", () => {
    const story = risen();
    story.decide();
    const [card] = cardsFor(story.state, "apply", [2], { 2: absent });
    expect(card).toMatchObject({ gate: "call" });
    expect(card?.text).toContain("the account holds an elevated role by now");
  });

  test("is sent once that was approved, though the reading says so again", () => {
    const story = risen();
    story.decide();
    story.approve().lease().saw(1, roleIs("member"), "verify");
    expect(sees(story).decide()).toMatchObject({ kind: "send", step: 2 });
  });

  test("asks again where the reading behind the decision has changed", () => {
    const story = risen();
    story.decide();
    story.approve().lease().saw(1, roleIs("member"), "verify");
    story.saw(2, { kind: "absent", proof: "complete_scan" });
    expect(story.decide()).toMatchObject({ kind: "send" });
    const other = risen();
    other.decide();
    other.approve().lease().saw(1, roleIs("member"), "verify").saw(2, member());
    expect(other.decide()).toEqual({ kind: "halt" });
    expect(other.state.steps[1]?.receipt?.result).toBe("already_present");
  });

  test("does not fall back to the plan's decision when the account is ordinary again", () => {
    const story = risen();
    story.decide();
    story.after(HOUR).lease().saw(1, roleIs("member"), "verify").saw(2, absent);
    expect(story.decide()).toEqual({ kind: "halt" });
    expect(story.name()).toBe("awaiting_approval");
  });

  test("is told apart from one of which nothing shows that it holds here", () => {
    const story = running(planOf([role(), group()])).receipt(1, { after: roleIs("member") });
    sees(story, "unproven").decide();
    const [card] = cardsFor(story.state, "apply", [2], { 2: absent });
    expect(card?.text).toContain("nothing shows that this provider holds");
  });
});
