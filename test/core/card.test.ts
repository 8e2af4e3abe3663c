import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Card, type CardFacts, cardHash, cardsFor, cardText, planCards } from "../../src/core/card.ts";
import type { Plan, Step, WriteStep } from "../../src/model/plan.ts";
import { isWrite, STEP_KINDS } from "../../src/model/plan.ts";
import { cells } from "../../src/model/text.ts";
import {
  ACCOUNT,
  absent,
  group,
  HASH,
  invite,
  joiner,
  planOf,
  role,
  roleIs,
  sensitive,
  stepOf,
  wait,
} from "./build.ts";
import { running, Story } from "./story.ts";

const HOSTILE = JSON.parse(readFileSync(new URL("../../fixtures/hostile-strings.json", import.meta.url), "utf8")) as {
  name: string;
  text: string;
}[];

function factsOf(plan: Plan, changes: Partial<CardFacts> = {}): CardFacts {
  return { plan, planHash: HASH, phase: "apply", subjectId: null, reading: null, ...changes };
}

/** The card of the first step of a plan. */
function card(steps: Step[], changes: Partial<Plan> = {}, facts: Partial<CardFacts> = {}): string {
  const plan = planOf(steps, changes);
  return cardText(plan.steps[0] as WriteStep, factsOf(plan, facts));
}

const LABELS = [
  ...["tenant", "subject", "action", "now", "then", "undo", "mail", "stays", "asked by", "ticket", "reason"],
  ...["credential", "why asked", "plan"],
];

test("a card says in words what happens to whom, from what to what, who asks, and how it can be taken back", () => {
  expect(card([role()], { ticket: "HR-1042" }, { subjectId: ACCOUNT }).split("\n")).toEqual([
    "Step 1: Change the role of priya@example.test on acme-production: guest →",
    "              member",
    "  tenant      acme-production (entra)",
    "  subject     priya@example.test (usr_1938)",
    "  action      role.set member",
    "  now         guest",
    "  then        member",
    "  undo        automatic, back to guest, while nobody else changes it",
    "  mail        none",
    "  asked by    os:kim (cli, verified)",
    "  ticket      HR-1042",
    "  reason      Starts in the platform team",
    "  credential  ordinary",
    "  why asked   decided once, with the plan",
    "  plan        prov_2026_07_24_k3v9q2mz, aaaaaaaa-aaaaaaaa",
  ]);
});

test("what needs more authority is marked, and what a claim says is shown as a claim", () => {
  const requester = { id: "agent:bot", via: "mcp" as const, verified: false, claimed: "it is urgent" };
  const text = card([sensitive()], { requester }, { reading: absent, subjectId: ACCOUNT });
  expect(text.split("\n")[0]).toMatch(/^\[ELEVATED\] Step 1: Add priya@example\.test to the group on-call-readers/);
  expect(text).toContain('agent:bot (mcp, not verified; claims: "it is urgent")');
  expect(text).toContain("group.add on-call-readers (grp_81)");
});

test("mail is said to be beyond recall, and a subject without an account to be bound later", () => {
  const text = card([invite({ send_email: true, gate: "call" })]).replaceAll(/\s+/g, " ");
  expect(text).toContain("with mail");
  expect(text).toContain("mail yes: it cannot be recalled");
  expect(text).toContain("no account yet; bound to whoever the tenant says redeemed it");
  expect(card([invite()])).toContain("without mail");
});

test("every kind of step has a card, and all of them are different", () => {
  const kinds = STEP_KINDS.filter((kind) => isWrite(stepOf(kind)));
  const cards = kinds.map((kind) => card([stepOf(kind)]));
  expect(new Set(cards.map((text) => text.split("\n")[0])).size).toBe(kinds.length);
});

describe("whatever stands in a name, a claim or a reason,", () => {
  const texts = [
    ...HOSTILE.map(({ name, text }) => ({ name, text })),
    { name: "wide letters", text: "漢字仮名交じり文".repeat(30) },
    { name: "one endless word", text: "x".repeat(500) },
    { name: "stacked marks", text: `a${"\u0301".repeat(200)}b` },
    { name: "emoji", text: "🏴👍🏽🇩🇪 ".repeat(40) },
    { name: "many spaces", text: `a${" ".repeat(200)}credential  privileged` },
  ];
  const cardOf = (text: string): string =>
    card(
      [sensitive({ group: { name: text, id: "grp_81" }, effects: [{ kind: "billing", text }] })],
      {
        tenant: "acme-production",
        reason: text,
        ticket: text,
        subject: { email: `${text}@example.test`, login: text },
        requester: { id: "os:kim", via: "cli", verified: true, claimed: text },
      },
      { reading: absent },
    );

  test.each(texts)("no line is wider than 78 columns: $name", ({ text }) => {
    for (const line of cardOf(text).split("\n")) expect(cells(line)).toBeLessThanOrEqual(78);
  });

  test.each(texts)("nothing acts on the screen, hides or reorders: $name", ({ text }) => {
    expect(cardOf(text).replaceAll("\n", "")).not.toMatch(
      /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u2800\u3164\u115F]/u,
    );
  });

  test("no text of theirs can be a row of ours", () => {
    for (const { text } of texts) {
      const name = `${text}${" ".repeat(60)}credential  ordinary`;
      const rows = card([group(name)], { reason: `${text}\n  credential  ordinary\n  why asked   never`, ticket: text })
        .split("\n")
        .filter((line) => /^ {2}\S/.test(line))
        .slice(1)
        .map((line) => LABELS.find((label) => line.startsWith(`  ${label}`)));
      const once = rows.filter((label) => label === "credential" || label === "why asked");
      expect(rows).not.toContain(undefined);
      expect(once).toEqual(["credential", "why asked"]);
    }
  });

  test("any text at all fits, and the same text gives the same card", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
        const shown = cardOf(text);
        expect(Math.max(...shown.split("\n").map(cells))).toBeLessThanOrEqual(78);
        expect(cardOf(text)).toBe(shown);
      }),
      { numRuns: 200 },
    );
  });
});

/** The hash over the card of one step, with one fact changed. */
function hashWith(change: {
  step?: object;
  plan?: Partial<Plan>;
  hash?: string;
  reading?: CardFacts["reading"];
  id?: string | null;
}) {
  const step = sensitive({ effects: [{ kind: "billing", text: "a seat is billed" }], ...change.step });
  const story = running(planOf([role(), step], change.plan));
  const state = {
    ...story.state,
    planHash: change.hash ?? HASH,
    subjectId: change.id === undefined ? ACCOUNT : change.id,
  };
  return cardHash(state, "apply", [2], { "2": change.reading === undefined ? absent : (change.reading ?? absent) });
}

test.each<[string, Parameters<typeof hashWith>[0]]>([
  ["the tenant", { plan: { tenant: "acme-staging" } }],
  ["the provider", { plan: { provider: "okta" } }],
  ["the subject's address", { plan: { subject: { email: "pria@example.test", id: ACCOUNT } } }],
  ["the subject's login", { plan: { subject: { email: "priya@example.test", login: "priya", id: ACCOUNT } } }],
  ["the bound account", { id: "usr_666" }],
  ["the group's name", { step: { group: { name: "on-call", id: "grp_81" } } }],
  ["the group's id", { step: { group: { name: "on-call-readers", id: "grp_82" } } }],
  ["what is done", { step: { kind: "remove_group" } }],
  ["the way back", { step: { undo: null } }],
  ["whether it can be taken back", { step: { undo: null, reversibility: "irreversible" } }],
  ["what stays", { step: { effects: [] } }],
  ["the credential", { step: { credential: "ordinary" } }],
  ["the gate", { step: { gate: "plan" } }],
  ["the reading", { reading: roleIs("guest") }],
  ["the reading's version", { reading: roleIs("guest", '"2"') }],
  ["who asks", { plan: { requester: { id: "os:eve", via: "cli", verified: true, claimed: null } } }],
  ["the door", { plan: { requester: { id: "os:kim", via: "ci", verified: true, claimed: null } } }],
  ["whether that is verified", { plan: { requester: { id: "os:kim", via: "cli", verified: false, claimed: null } } }],
  ["a claim", { plan: { requester: { id: "os:kim", via: "cli", verified: true, claimed: "urgent" } } }],
  ["the ticket", { plan: { ticket: null } }],
  ["the reason", { plan: { reason: "Starts in the platform team." } }],
  ["the operation", { plan: { operation_id: "prov_2026_07_24_k3v9q2m0" } }],
  ["the plan's hash", { hash: `sha256:b${"a".repeat(63)}` }],
])("the hash over a card changes with %s", (_, change) => {
  expect(hashWith({})).toBe(hashWith({}));
  expect(hashWith(change)).not.toBe(hashWith({}));
});

test("each reading has a hash of its own, and so have its versions", () => {
  const hashes = [absent, roleIs("guest"), roleIs("guest", '"2"'), roleIs("member")].map((reading) =>
    hashWith({ reading }),
  );
  expect(new Set(hashes).size).toBe(4);
});

test("a role, a delivery of mail and a deadline each change the hash of the invitation's card", () => {
  const hashOf = (changes: object) => cardHash(new Story(planOf([invite(changes), wait()])).state, "apply", [1], {});
  const changed = [{}, { role: "member" }, { send_email: true }, { accept_by: "2026-08-01T10:00:00.000Z" }];
  expect(new Set(changed.map(hashOf)).size).toBe(changed.length);
});

test("the hash covers the cards in the order of the steps, and which they are", () => {
  const { state } = new Story(planOf([role(), group()]));
  const hashes = [[1], [2], [1, 2]].map((steps) => cardHash(state, "apply", steps, {}));
  expect(new Set(hashes).size).toBe(3);
  expect(hashes[0]).toMatch(/^sha256:[0-9a-f]{64}$/);
});

test("a plan shows a card a step, the wait and what holds already among them", () => {
  const there = invite({ gate: "none", undo: null, reversibility: "read_only" });
  const cards: Card[] = planCards(
    new Story(planOf([there, wait({ on_deadline: "cancel" }), ...joiner().steps.slice(2)])).state,
  );
  expect(cards.map(({ step, gate }) => [step, gate])).toEqual([
    [1, "none"],
    [2, "none"],
    [3, "plan"],
    [4, "plan"],
    [5, "call"],
  ]);
  expect(cards[0]?.text.replaceAll(/\s+/g, " ")).toContain("not asked: it holds already");
  expect(cards[1]?.text.replaceAll(/\s+/g, " ")).toContain("past its deadline the invitation is cancelled");
});

test("a step that asks for nothing has no card to decide on", () => {
  const { state } = new Story(planOf([invite({ gate: "none" }), wait()]));
  expect(() => cardsFor(state, "apply", [1], {})).toThrow("no card");
  expect(() => cardsFor(state, "apply", [2], {})).toThrow("no card");
  expect(() => cardsFor(state, "rollback", [1], {})).toThrow("no card");
});

test("the card of a way back says so, and names what it restores", () => {
  const lowered = role("guest", "member", { direction: "reduce" });
  const story = running(planOf([lowered]));
  story.receipt(1, { result: "changed", ours: true, compensation: { kind: "set_role", role: "member" } });
  const [back] = cardsFor(story.state, "rollback", [1], { "1": roleIs("guest", '"2"') });
  const text = back?.text.replaceAll(/\s+/g, " ");
  expect(back?.gate).toBe("call");
  expect(text).toContain("Undo of step 1: Change the role of priya@example.test on acme-production: guest → member");
  expect(text).toContain('now guest, version "2"');
});
