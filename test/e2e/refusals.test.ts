import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { generateKey } from "../../src/runtime/approvals/sshkey.ts";
import { type Desk, endDesk, type Operation, openDesk, PRIYA } from "./desk.ts";
import { approve, plan, run } from "./path.ts";

let desk: Desk;
let op: string;
let roster: string;
beforeAll(async () => {
  desk = await openDesk();
  op = await plan(desk, PRIYA);
  roster = readFileSync(desk.file("approvers"), "utf8");
});
afterAll(() => endDesk(desk));

const APPROVER = "approver@acme-sandbox.test";

interface Attempt {
  says: string;
  code: string;
  /** In place of the approvers file; null: there is none. */
  roster?(text: string): string | null;
  config?(text: string): string;
  more?(): string[];
}

const named = (name: string) => (text: string) => text.replace(APPROVER, name);

function strangersKey(): string[] {
  writeFileSync(desk.file("stranger"), generateKey("stranger@example.test").privateText, { mode: 0o600 });
  return ["--key", "stranger"];
}

const ATTEMPTS: Attempt[] = [
  { says: "where there is no approvers file", code: "roster_empty", roster: () => null },
  { says: "where the approvers file names nobody", code: "roster_empty", roster: () => "# nobody\n" },
  { says: "with a key that does not stand there", code: "unknown_key", more: strangersKey },
  { says: "where a name is a pattern", code: "wildcard_principal", roster: named("*@acme-sandbox.test") },
  {
    says: "where a key serves another purpose",
    code: "namespace_missing",
    roster: (text) => text.replace('namespaces="provision-approval"', 'namespaces="git"'),
  },
  {
    says: "by whoever asked, under another name",
    code: "own_request",
    config: (text) => `${text}\nidentities: { "os:${userInfo().username}": ${APPROVER} }\n`,
  },
  { says: "by whoever asked, under the same name", code: "own_request", roster: named(`os:${userInfo().username}`) },
  { says: "by the one who would get it", code: "own_access", roster: named(PRIYA) },
  {
    says: "by the one who would get it, under another name",
    code: "own_access",
    config: (text) => `${text}\nidentities: { "${PRIYA}": ${APPROVER} }\n`,
  },
  { says: "by an agent", code: "agent_approver", roster: named("agent:helper") },
];

for (const { says, code, roster: change, config, more } of ATTEMPTS)
  test(`nobody approves ${says}`, async () => {
    const written = change ? change(roster) : roster;
    const plain = readFileSync(desk.file("provision.yaml"), "utf8");
    if (written === null) rmSync(desk.file("approvers"));
    else writeFileSync(desk.file("approvers"), written);
    if (config) desk.edit("provision.yaml", config);
    const refused = await desk.quick("approve", op, "--yes", "--json", ...(more?.() ?? []));
    writeFileSync(desk.file("approvers"), roster);
    writeFileSync(desk.file("provision.yaml"), plain);

    expect(refused.code, refused.stdout).toBe(13);
    const { error } = refused.json<{ error: { code: string; message: string; hint: string } }>();
    expect(error.code).toBe(code);
    expect(error.message).toMatch(/^[A-Z].*\.$/);
    expect(error.hint).toBeTruthy();
    expect((await run(desk, op)).code).toBe(3);
    expect(await desk.tenant.writes()).toEqual([]);
  });

test("each reason to refuse has a text of its own", () => {
  const texts = desk.printed
    .filter((text) => text.includes('"error"'))
    .map((text) => JSON.parse(text).error as { code: string; message: string })
    .map(({ code, message }) => [code, message.replace(/:\d+/, "")]);
  const codes = new Set(texts.map(([code]) => code));
  expect(codes.size).toBe(new Set(ATTEMPTS.map(({ code }) => code)).size);
  expect(new Set(texts.map(([, message]) => message)).size).toBeGreaterThanOrEqual(codes.size);
});

test("a command without a terminal asks nobody: it ends with 3 and names the flag", async () => {
  const asked = await desk.provision("approve", op, "--json");
  expect([asked.code, asked.json<{ error: { code: string } }>().error.code]).toEqual([3, "answer_needed"]);
  expect(asked.json<{ error: { hint: string } }>().error.hint).toContain("--yes");
  expect((await desk.provision("approve", "@last", "--yes")).code).toBe(2);
});

test("a step that nobody stands before yet cannot be decided, nor one that does not exist", async () => {
  const later = await plan(desk, "later@example.test", (yaml) => yaml);
  const early = await desk.quick("approve", later, "--yes", "--steps", "5", "--json");
  expect([early.code, early.json<{ error: { code: string } }>().error.code]).toEqual([13, "not_due"]);
  expect((await desk.quick("approve", later, "--yes", "--steps", "9", "--json")).code).toBe(2);
  expect(await approve(desk, later, "--steps", "1,3")).toEqual([1, 3]);
  expect(await approve(desk, later)).toEqual([4]);
});

test("an approval that has lapsed is asked for again, and nothing was sent under it", async () => {
  const lapsing = await plan(desk, "lapsing@example.test");
  const approved = await desk.quick("approve", lapsing, "--yes", "--expires", "400ms", "--json");
  expect(approved.json().decided).toEqual([1, 3, 4]);
  await pause(Date.parse(String(approved.json().expires_at)) - Date.now() + 5);
  const writes = (await desk.tenant.writes()).length;
  const { code, left } = await run(desk, lapsing);
  expect([code, left.state]).toEqual([3, "awaiting_approval"]);
  expect(left.steps.map(({ approval }) => approval)).toEqual(["lapsed", "none", "lapsed", "lapsed"]);
  expect((await desk.tenant.writes()).length).toBe(writes);
  expect(await approve(desk, lapsing)).toEqual([1, 3, 4]);
  expect((await run(desk, lapsing)).code).toBe(4);
});

test("the untouched approver approves, and the run goes on", async () => {
  expect(await approve(desk, op)).toEqual([1, 3, 4]);
  const ran = await desk.provision("run", op, "--json");
  expect([ran.code, ran.json<Operation>().state]).toEqual([4, "waiting"]);
});
