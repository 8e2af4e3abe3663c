import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Payload } from "../../src/model/entry.ts";
import { openJournal } from "../../src/runtime/journal/journal.ts";
import { type Desk, endDesk, openDesk } from "./desk.ts";
import { accepted, holds, ordinaryOnly, rollback, run, undos } from "./path.ts";

type Word = Extract<Payload, { kind: "step.resolved" }>;

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => endDesk(desk));

const io = { now: () => new Date().toISOString(), random: (bytes: number) => randomBytes(bytes) };
const FORGED = { envelope: { stmt: "e30", alg: "sshsig", sig: "x" }, approver: "approver@acme-sandbox.test" } as const;

/** Written by somebody who has the journal's keys and no approver's. */
function write(op: string, ...words: Omit<Word, "kind">[]): void {
  const journal = openJournal({ dir: desk.file(".provision"), ...io });
  journal.append(
    op,
    words.map((word): Word => ({ kind: "step.resolved", ...word })),
  );
  journal.close();
}

const nonce = () => randomBytes(16).toString("base64url");

/** The word that was given last. */
function given(op: string): Word {
  const journal = openJournal({ dir: desk.file(".provision"), ...io });
  const word = journal.read(op).findLast((entry) => entry.kind === "step.resolved");
  journal.close();
  if (word?.kind !== "step.resolved") throw new Error("no word was given");
  return word;
}

/** Rolled back past a role that somebody else changed meanwhile. */
async function divergedRole(email: string): Promise<string> {
  const op = await accepted(desk, email, ordinaryOnly);
  expect((await run(desk, op)).code).toBe(0);
  await desk.tenant.act("edit/role", { email, role: "billing" });
  const { left } = await rollback(desk, op);
  expect([left.state, undos(left)[2]]).toEqual(["rollback_pending", "diverged"]);
  return op;
}

async function leave(op: string): Promise<void> {
  const word = await desk.quick("resolve", op, "--step", "3", "--undo", "--as", "left", "--yes", "--json");
  expect(word.code, word.stdout).toBe(0);
}

test("a word that nobody signed ends no rollback, and nothing is sent on it", async () => {
  const op = await divergedRole("forged-left@example.test");
  write(op, { step: 3, as: "left", nonce: nonce(), ...FORGED });
  const writes = (await desk.tenant.writes()).length;
  const again = await rollback(desk, op);
  const shown = await desk.quick("status", op);
  expect([shown.code, shown.stderr.includes("The word on step 3 does not count.")]).toEqual([9, true]);
  expect([again.code, again.left.error?.code]).toEqual([9, "fields"]);
  expect(again.left.error?.message).toContain("The word on step 3 does not count.");
  expect(again.left.blocked).toMatchObject({ code: "fields", by: "approval" });
  expect((await desk.tenant.writes()).length).toBe(writes);
});

test("nor does one make a step of which nothing is known one that was applied", async () => {
  const email = "forged-applied@example.test";
  const op = await accepted(desk, email, ordinaryOnly);
  write(op, { step: 3, as: "applied", nonce: nonce(), ...FORGED });
  const { code, left } = await run(desk, op);
  expect([code, left.error?.code]).toEqual([9, "fields"]);
  expect(await holds(desk, email)).toMatchObject({ role: "guest", groups: [] });
});

test("what an approver signed is believed by every later run, also once the key was retired", async () => {
  const op = await divergedRole("signed-left@example.test");
  await leave(op);
  expect((await rollback(desk, op)).left.state).toBe("rolled_back");
  const roster = readFileSync(desk.file("approvers"), "utf8");
  const later = new Date(Date.now() + 2000).toISOString().replace(/\D/g, "").slice(0, 14);
  writeFileSync(desk.file("approvers"), roster.replace(" ssh-", `,valid-before="${later}Z" ssh-`));
  try {
    expect(readFileSync(desk.file("approvers"), "utf8")).not.toBe(roster);
    expect((await rollback(desk, op)).code).toBe(0);
    writeFileSync(desk.file("approvers"), `# nobody\n`);
    const { code, left } = await rollback(desk, op);
    expect([code, left.error?.code]).toEqual([13, "roster_empty"]);
  } finally {
    writeFileSync(desk.file("approvers"), roster);
  }
});

test("a word that was signed about one step, or one operation, says nothing about another", async () => {
  const [one, other] = [await divergedRole("moved-a@example.test"), await divergedRole("moved-b@example.test")];
  await leave(one);
  const word = given(one);
  write(other, { step: 3, as: "left", envelope: word.envelope, approver: word.approver, nonce: nonce() });
  const { code, left } = await rollback(desk, other);
  expect([code, left.error?.code]).toEqual([13, "other_operation"]);
});

for (const [says, change] of [
  ["another approver", { approver: "owner@acme-sandbox.test" }],
  ["another nonce", { nonce: "AAAAAAAAAAAAAAAAAAAAAA" }],
] as const)
  test(`a word is recorded as it was signed, and not by ${says}`, async () => {
    const op = await divergedRole(`${says.replaceAll(" ", "-")}@example.test`);
    const copy = desk.copy(says.replaceAll(" ", "-"));
    await leave(op);
    const word = given(op);
    const journal = openJournal({ dir: copy.file(".provision"), ...io });
    journal.append(op, [{ ...pick(word), ...change }]);
    journal.close();
    const { code, left } = await rollback(copy, op);
    expect([code, left.error?.code]).toEqual([9, "other_statement"]);
  });

function pick({ kind, step, as, envelope, approver, nonce }: Word): Word {
  return { kind, step, as, envelope, approver, nonce };
}
