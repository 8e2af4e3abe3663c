import { cpSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bench, type Case, expectTold, openBench, refusal } from "./store-bench.ts";
import {
  canFix,
  changed,
  contents,
  filesIn,
  fixed,
  garbled,
  gone,
  inState,
  locked,
  restorer,
  settleLogs,
} from "./store-damage.ts";

let bench: Bench;
let patient: Awaited<ReturnType<Bench["ready"]>>;
beforeAll(async () => {
  bench = await openBench();
  patient = await bench.ready();
});
afterAll(() => bench.close());

const root = canFix();
const half = (path: string) => truncateSync(path, Math.floor(statSync(path).size / 8192) * 4096);
const missing = { exit: 9, code: "journal_missing" } as const;
const corrupt = { exit: 9, code: "journal_corrupt" } as const;
const unwritable = { exit: 11, code: "journal_unwritable" } as const;

const CASES: (Case | false)[] = [
  { what: "locked by another process", damage: locked("journal.db"), exit: 11, code: "journal_busy" },
  root && { what: "whose files are read-only", damage: fixed(filesIn), ...unwritable },
  root && { what: "in a read-only folder", damage: fixed(() => [""]), ...unwritable },
  { what: "gone", damage: gone(() => ["journal.db"]), ...missing },
  { what: "gone with its keys, but for its mark", damage: gone(() => ["journal.db", "keys.db"]), ...missing },
  { what: "gone with its mark, but for its keys", damage: gone(() => ["journal.db", "mark"]), ...missing },
  { what: "of zero bytes", damage: changed("journal.db", (path) => truncateSync(path)), ...missing },
  { what: "cut to half", damage: changed("journal.db", half), ...corrupt },
  { what: "with garbage from its second page on", damage: garbled("journal.db", 4096), ...corrupt },
  { what: "without its keys", damage: gone(() => ["keys.db"]), exit: 9, code: "keys_missing" },
  { what: "with garbage for keys", damage: garbled("keys.db", 0), ...corrupt },
  { what: "with empty keys", damage: changed("keys.db", (path) => truncateSync(path)), exit: 9, code: "keys_missing" },
  { what: "without its master key", damage: gone(() => ["master.key"]), exit: 9, code: "master_key_missing" },
  { what: "without its mark", damage: gone(() => ["mark"]), exit: 9, code: "mark_missing" },
  {
    what: "with garbage for its mark",
    damage: changed("mark", (path) => writeFileSync(path, "x")),
    exit: 9,
    code: "mark_damaged",
  },
];

test.each(CASES.filter((one) => one !== false))(
  "a journal $what: exit $exit, nothing is begun anew, nothing is sent, and all stays as it was",
  async ({ damage, exit, code }) => {
    const { desk, door } = bench;
    settleLogs(desk);
    const mend = damage(desk);
    const before = contents(desk);
    const ran = await bench.run(patient.op);
    const after = contents(desk);
    mend();
    expect([ran.code, ran.stderr, door.seen]).toEqual([exit, "", []]);
    expectTold(desk, ran, code);
    expect(after).toEqual(before);
  },
);

test("the operation that met all of these goes on once its journal is back", async () => {
  await bench.goesOn(patient.op, patient.email);
  expect(bench.writes()).toHaveLength(1);
});

test.each([
  ["journal.db", "journal_shorter"],
  ["keys.db", "key_missing"],
])("an older copy of %s under the mark of now: exit 9, and nothing is sent", async (name, code) => {
  const { desk, door } = bench;
  await bench.ready();
  const old = mkdtempSync(join(desk.dir, "..", "old-"));
  cpSync(inState(desk), old, { recursive: true });
  const { op, email } = await bench.ready();
  const restore = restorer(desk);
  cpSync(join(old, name), inState(desk, name));
  const ran = await bench.run(op);
  restore();
  rmSync(old, { recursive: true });
  expect([ran.code, refusal(ran).code, door.seen]).toEqual([9, code, []]);
  await bench.goesOn(op, email);
});

test.each(["journal.db", "keys.db"])(
  "%s locked as a plan is to be stored: exit 11, and there is no such operation",
  async (name) => {
    const { desk, door } = bench;
    door.calm();
    const request = desk.request("nowhere@example.test");
    const listed = async () => (await desk.quick("list", "--json")).json<{ operations: unknown[] }>().operations.length;
    const before = await listed();
    const mend = locked(name)(desk);
    const ran = await bench.with("plan", request, "--json");
    mend();
    expect([ran.code, await listed()]).toEqual([11, before]);
    expectTold(desk, ran, "journal_busy");
    expect(door.seen.filter(({ method }) => method !== "GET")).toEqual([]);
  },
);
