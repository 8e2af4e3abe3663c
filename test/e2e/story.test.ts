import { afterAll, beforeAll, expect, test } from "vitest";
import type { RequestRow } from "../../providers/sandbox/tenant/views.ts";
import { type Desk, endDesk, type Operation, openDesk, PRIYA } from "./desk.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => endDesk(desk));

const TABLE = `STEP  ACTION                     RESULT            UNDO
1     invitation.create          accepted          unavailable
2     acceptance.wait            observed          n/a
3     role.set                   changed           ready: guest
4     group.add engineering      added             ready
5     group.add on-call-readers  denied            none
STATE partial_failure
`;

function brief(row: RequestRow): string {
  return [
    row.method,
    row.action,
    row.token,
    row.action === "invitation.create" ? null : row.status,
    row.applied ? "applied" : "not applied",
  ]
    .filter((word) => word !== null)
    .join(" ");
}

/** The whole story, each command a process of its own; what follows looks at what it left. */
test("the story ends with 0, 3, 0, 4, 3, 0, 5 and 0, also where the invitation's answer was lost", async () => {
  const planned = await desk.provision("plan", "plans/joiner.yaml", "--json");
  expect(planned).toMatchObject({ code: 0, stderr: "" });
  const { operation_id: op } = planned.json<{ operation_id: string }>();
  await desk.provision("sandbox", "fault", "lost_after_commit", "--action", "invitation.create");
  expect((await desk.provision("run", op)).code).toBe(3);
  expect(await desk.tenant.writes()).toEqual([]);

  const first = await desk.provision("approve", op, "--yes", "--json");
  expect([first.code, first.json().decided]).toEqual([0, [1, 3, 4]]);
  expect(first.json()).toMatchObject({
    operation_id: op,
    state: "approved",
    approval_id: expect.stringMatching(/^apr_/),
  });

  const invited = await desk.provision("run", op, "--json", "--verbose");
  expect(invited.code).toBe(4);
  expect(invited.json<Operation>().state).toBe("waiting");
  expect(invited.json<Operation>().steps[0]).toMatchObject({ result: "pending", undo: "ready: cancel" });
  expect(await desk.tenant.writes("invitation.create")).toMatchObject([
    { method: "POST", path: "/invitations", token: "ordinary", applied: true },
  ]);

  expect((await desk.provision("sandbox", "accept", PRIYA)).code).toBe(0);
  const halfway = await desk.provision("run", op, "--json");
  expect(halfway.code).toBe(3);
  expect(halfway.json<Operation>().steps.map(({ result, approval }) => `${result} ${approval}`)).toEqual([
    "accepted given",
    "observed none",
    "changed given",
    "added given",
    "- needed",
  ]);
  expect(await desk.tenant.writes("group.add")).toHaveLength(1);

  const second = await desk.provision("approve", op, "--yes", "--json");
  expect([second.code, second.json().decided]).toEqual([0, [5]]);
  const denied = await desk.provision("run", op, "--json");
  expect(denied.code).toBe(5);
  expect(denied.json<Operation>()).toMatchObject({
    state: "partial_failure",
    blocked: { step: 5, code: "insufficient_authority", by: "tenant" },
  });
  expect((await desk.provision("status", op)).stdout).toBe(TABLE);

  const back = await desk.provision("rollback", op, "--json");
  expect(back.code).toBe(0);
  expect(back.json<Operation>()).toMatchObject({ state: "rolled_back" });
  expect(back.json<Operation>().compensations.map(({ action, result }) => `${action} ${result}`)).toEqual([
    "group.remove undone",
    "role.set undone",
  ]);
  expect(back.json<Operation>().residual_effects[0]).toMatchObject({ step: 1, kind: "account" });
});

test("the tenant got each change once, the denied one too, and nobody was deleted", async () => {
  const state = await desk.tenant.state();
  expect(state.requests.filter((row) => row.method !== "GET").map(brief)).toEqual([
    "POST invitation.create ordinary applied",
    "PUT role.set ordinary 200 applied",
    "PUT group.add ordinary 201 applied",
    "PUT group.add ordinary 403 not applied",
    "DELETE group.remove ordinary 200 applied",
    "PUT role.set ordinary 200 applied",
  ]);
  expect(state.users.find(({ email }) => email === PRIYA)).toMatchObject({ role: "guest", status: "active" });
  const id = state.users.find(({ email }) => email === PRIYA)?.id;
  const direct = state.groups.filter(({ members }) =>
    members.some((one) => one.user_id === id && one.via === "direct"),
  );
  expect(direct).toEqual([]);
  expect(state.mails).toEqual([]);
});
