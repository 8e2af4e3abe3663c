import { expect } from "vitest";
import type { Desk, Operation } from "./desk.ts";

/** The request of the story without its sensitive group. */
export const ordinaryOnly = (yaml: string) => yaml.replace("[engineering, on-call-readers]", "[engineering]");

/** Plans for this person and gives the operation's id. */
export async function plan(
  desk: Desk,
  email: string,
  change: (yaml: string) => string = ordinaryOnly,
): Promise<string> {
  const planned = await desk.quick("plan", desk.request(email, change), "--json");
  expect(planned.code, planned.stdout).toBe(0);
  return planned.json<{ operation_id: string }>().operation_id;
}

export async function approve(desk: Desk, op: string, ...more: string[]): Promise<number[]> {
  const approved = await desk.quick("approve", op, "--yes", "--json", ...more);
  expect(approved.code, approved.stdout).toBe(0);
  return approved.json<{ decided: number[] }>().decided;
}

/** Runs and says where that led: the exit code, and the document. */
export async function run(
  desk: Desk,
  op: string,
  ...more: string[]
): Promise<{ code: number | null; left: Operation }> {
  const ran = await desk.quick("run", op, "--json", ...more);
  return { code: ran.code, left: ran.json<Operation>() };
}

export async function rollback(desk: Desk, op: string): Promise<{ code: number | null; left: Operation }> {
  const ran = await desk.quick("rollback", op, "--json");
  return { code: ran.code, left: ran.json<Operation>() };
}

/** Planned, approved, invited and accepted: the next run begins with the role. */
export async function accepted(desk: Desk, email: string, change?: (yaml: string) => string): Promise<string> {
  const op = await plan(desk, email, change);
  await approve(desk, op);
  expect((await run(desk, op)).code).toBe(4);
  await desk.tenant.accept(email);
  return op;
}

export function results(left: Operation): string[] {
  return left.steps.map(({ result }) => result);
}

export function undos(left: Operation): string[] {
  return left.steps.map(({ undo }) => undo);
}

/** What the tenant says of one person: role, status and direct groups. */
export async function holds(
  desk: Desk,
  email: string,
): Promise<{ role: string; status: string; groups: string[] } | null> {
  const { users, groups } = await desk.tenant.state();
  const user = users.find((one) => one.email === email);
  if (!user) return null;
  const direct = groups.filter(({ members }) =>
    members.some(({ user_id, via }) => user_id === user.id && via === "direct"),
  );
  return { role: user.role, status: user.status, groups: direct.map(({ name }) => name) };
}
