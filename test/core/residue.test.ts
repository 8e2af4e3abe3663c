import { describe, expect, test } from "vitest";
import { nextCommands } from "../../src/core/advice.ts";
import { compensationLines, residualEffects } from "../../src/core/residue.ts";
import { STATES, type StateName } from "../../src/core/status.ts";
import {
  ACCOUNT,
  absent,
  group,
  invite,
  invited,
  lost,
  ok,
  planOf,
  role,
  roleIs,
  sensitive,
  stepOf,
  wait,
} from "./build.ts";
import { running, Story } from "./story.ts";

const seat = { effects: [{ kind: "billing", text: "a seat is billed" }] };
const mail = { effects: [{ kind: "mail", text: "an invitation is mailed" }], send_email: true };
const ours = { ours: true, attribution: "proven" } as const;

describe("what remains", () => {
  test("is nothing where nothing of ours happened, whatever the plan would have done", () => {
    expect(residualEffects(new Story(planOf([invite(mail), wait(), stepOf("assign_license", seat)])).state)).toEqual(
      [],
    );
    const held = running(planOf([stepOf("assign_license", seat)])).receipt(1, { result: "already_assigned" });
    expect(residualEffects(held.state)).toEqual([]);
  });

  test("holds what no call takes back, also after everything was undone", () => {
    const story = running(planOf([stepOf("assign_license", seat)])).receipt(1, { result: "assigned", ...ours });
    const effect = { step: 1, kind: "billing", text: "a seat is billed" };
    expect(residualEffects(story.state)).toEqual([effect]);
    const none = { before: null, after: null, code: null, detail: null, status: null, provider_request_id: null };
    story.add({ kind: "step.compensated", step: 1, receipt: { result: "undone", ...none } });
    expect(residualEffects(story.state)).toEqual([effect]);
  });

  test("holds the account of an invitation that was accepted: it is never deleted as an undo", () => {
    const story = running(planOf([invite(mail), wait()])).receipt(1, { result: "pending", ...ours });
    expect(residualEffects(story.state).map(({ kind }) => kind)).toEqual(["mail"]);
    story.add({ kind: "subject.bound", step: 2, subject_id: ACCOUNT, by: "accepted_by" });
    expect(residualEffects(story.state)).toMatchObject([{ kind: "account" }, { kind: "mail" }]);
    expect(residualEffects(story.state)[0]?.text).toContain(ACCOUNT);
  });

  test("does not say of an account that was deleted since that it exists", () => {
    const story = running(planOf([invite(mail), wait(), role()])).receipt(1, { result: "pending", ...ours });
    story.add({ kind: "subject.bound", step: 2, subject_id: ACCOUNT, by: "accepted_by" });
    const gone = { id: ACCOUNT, email: "priya@example.test", status: "deleted" as const };
    story.lease().saw(1, invited("accepted", { account: gone }), "verify");
    expect(residualEffects(story.state)[0]?.text).toBe(
      `the account ${ACCOUNT} came of the invitation, and somebody has deleted it since`,
    );
  });

  test("holds what may have happened", () => {
    const story = running(planOf([group()])).saw(1, absent);
    story.decide();
    story.replied(1, lost);
    expect(residualEffects(story.state)).toMatchObject([{ step: 1, kind: "unknown" }]);
  });

  test("begins with what was left or has diverged", () => {
    const story = running(planOf([invite(mail), wait(), role()]));
    story.receipt(1, { result: "pending", ...ours }).receipt(3, { result: "changed", ...ours });
    const none = { before: null, after: null, status: null, provider_request_id: null };
    for (const result of ["diverged", "left"] as const) {
      const receipt = { result, code: null, detail: "somebody else decided", ...none };
      story.add({ kind: "step.compensated", step: 3, receipt });
      expect(residualEffects(story.state)[0]).toEqual({
        ...{ step: 3, kind: result, text: "role.set: somebody else decided" },
      });
    }
    story.add({ kind: "subject.bound", step: 2, subject_id: ACCOUNT, by: "accepted_by" });
    expect(residualEffects(story.state).map(({ kind }) => kind)).toEqual(["left", "account", "mail"]);
  });
});

test("the compensations stand in the order in which they run, each with its value, its gate and its end", () => {
  const story = running(planOf([role(), role("guest", "member", { direction: "reduce" }), group()]));
  const open = { result: null, found: null, detail: null };
  const setRole = (name: string) => ({ kind: "set_role" as const, role: name });
  story.receipt(1, { result: "changed", ...ours, compensation: setRole("guest") });
  story.receipt(2, { result: "changed", ...ours, compensation: setRole("member") });
  story.receipt(3, { ...ours, result: "added", attribution: "presumed", compensation: { kind: "remove_group" } });
  expect(compensationLines(story.state)).toEqual([
    {
      ...{ step: 3, action: "group.remove", target: "engineering", value: null, gate: "plan", result: null },
      found: null,
      detail: "presumed ours; a person must say so before it is taken back",
    },
    { step: 2, action: "role.set", target: null, value: "member", gate: "call", ...open },
    { step: 1, action: "role.set", target: null, value: "guest", gate: "plan", ...open },
  ]);
});

describe("the commands that can follow", () => {
  const from = (story: Story) => story.document().next.map(({ command }) => command.replace("k3v9q2mz", "OP"));
  const changed = () =>
    running(planOf([role(), group()])).receipt(1, {
      result: "changed",
      ...ours,
      compensation: { kind: "set_role", role: "guest" },
    });

  test.each<[string, () => Story, string[]]>([
    ["nobody has decided", () => new Story(planOf([role()])), ["provision approve OP"]],
    ["it may run", () => new Story(planOf([role()])).approve(), ["provision run OP"]],
    [
      "it is paused",
      () => running(planOf([role()])).add({ kind: "op.state", event: "paused", detail: null }),
      ["provision run OP"],
    ],
    [
      "a step was denied",
      () => changed().receipt(2, { result: "denied", code: "forbidden" }),
      ["provision run OP --retry-step 2", "provision rollback OP"],
    ],
    [
      "a step is in doubt",
      () => {
        const story = running(planOf([role()])).saw(1, roleIs("guest"));
        story.decide();
        return story.replied(1, ok).receipt(1, { result: "unknown" });
      },
      ["provision run OP", "provision resolve OP --step 1 --as applied"],
    ],
    [
      "it was stopped before any change",
      () => running(planOf([role()])).add({ kind: "op.stopped", by: "os:kim", reason: null }),
      ["provision approve OP", "provision rollback OP"],
    ],
    [
      "it was stopped after one",
      () => changed().add({ kind: "op.stopped", by: "os:kim", reason: null }),
      ["provision rollback OP", "provision approve OP"],
    ],
    [
      "it has ended",
      () => new Story(planOf([role()])).add({ kind: "op.state", event: "superseded", detail: null }),
      [],
    ],
    [
      "steps after the one that was kept were taken back",
      () => changed().rollback(1),
      ["provision run OP --retry-step 2", "provision rollback OP"],
    ],
    [
      "the invited person was another, and nothing goes on from there",
      () =>
        running(planOf([role(), wait()]))
          .receipt(1, { result: "changed", ...ours })
          .receipt(2, { result: "conflict" }),
      ["provision run OP", "provision rollback OP"],
    ],
    ["everything was taken back", () => new Story(planOf([role()])).rollback(), []],
  ])("where %s", (_, tell, commands) => expect(from(tell())).toEqual(commands));

  test("name a compensation that a person must look at", () => {
    const none = { before: null, after: null, status: null, provider_request_id: null };
    const receipt = { result: "diverged" as const, code: "changed_since", detail: null, ...none };
    const story = changed().rollback().add({ kind: "step.compensated", step: 1, receipt });
    expect(from(story)).toContain("provision resolve OP --step 1 --undo --as left");
  });

  test("hold an answer for every state, with nothing of a tenant's in it", () => {
    const story = running(planOf([sensitive({ group: { name: "evil; rm -rf", id: "grp_81" } })]));
    story.receipt(1, { result: "denied", code: "forbidden; reboot" });
    const at = { now: 0, authority: { approvals: new Map(), denied: new Map() } };
    for (const name of Object.keys(STATES) as StateName[]) {
      for (const { command, safe } of nextCommands("k3v9q2mz", story.state, name, at)) {
        expect(command).toMatch(/^provision [a-z]+ k3v9q2mz( --[a-z-]+( [a-z0-9-]+)?)*$/);
        expect(safe).toBe(true);
      }
    }
  });
});
