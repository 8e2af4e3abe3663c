import { statSync, truncateSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bench, type Case, expectTold, openBench, refusal } from "./store-bench.ts";
import { asideIn, canFix, changed, exchanged, filesIn, fixed, garbled, gone, inState, locked } from "./store-damage.ts";

let bench: Bench;
/** Nothing is ever sent for it until its store is whole again. */
let patient: Awaited<ReturnType<Bench["ready"]>>;
beforeAll(async () => {
  bench = await openBench();
  patient = await bench.ready();
});
afterAll(() => bench.close());

const root = canFix();
const missing = { exit: 9, code: "journal_missing" } as const;
const unwritable = { exit: 11, code: "journal_unwritable" } as const;

const ALL: (Case | false)[] = [
  { what: "locked by another process", damage: locked("journal.db"), exit: 11, code: "journal_busy" },
  root && { what: "whose log became read-only", damage: fixed(() => ["journal.db-wal"]), ...unwritable },
  root && { what: "whose mark became read-only", damage: fixed(() => ["mark"]), ...unwritable },
  { what: "that was deleted", damage: gone(() => ["journal.db"]), ...missing },
  { what: "whose log was deleted", damage: gone(() => ["journal.db-wal"]), ...missing },
  { what: "that was exchanged for a copy", damage: exchanged("journal.db"), exit: 9, code: "journal_replaced" },
  { what: "whose keys were deleted", damage: gone(() => ["keys.db"]), ...missing },
  { what: "whose master key was deleted", damage: gone(() => ["master.key"]), ...missing },
  { what: "whose mark was deleted", damage: gone(() => ["mark"]), exit: 9, code: "mark_missing" },
  { what: "of which every file was deleted", damage: gone(filesIn), exit: 9, code: "mark_missing" },
];
const CASES = ALL.filter((one) => one !== false);

test.each(CASES)(
  "a journal $what ahead of the intent: exit $exit, and nothing is sent",
  async ({ damage, exit, code }) => {
    const { ran, mend } = await bench.struck(patient.op, "ahead of the intent", damage);
    mend();
    expect([ran.code, ran.stderr, bench.writes()]).toEqual([exit, "", []]);
    expectTold(bench.desk, ran, code);
  },
);

test("the operation that met all of these goes on once its journal is back", async () => {
  await bench.goesOn(patient.op, patient.email);
  expect(bench.writes()).toHaveLength(1);
});

test.each(CASES)(
  "a journal $what between the sending and the recording of its answer: exit $exit, and the answer is kept",
  async ({ damage, exit, code }) => {
    const { desk } = bench;
    const { op, email } = await bench.ready();
    const { ran, mend } = await bench.struck(op, "between the sending and the recording of its answer", damage);
    const kept = asideIn(desk).map((name) => inState(desk, name));
    const modes = kept.map((path) => statSync(path).mode & 0o777);
    mend();
    expect([ran.code, bench.writes().length, modes]).toEqual([exit, 1, [0o600]]);
    expectTold(desk, ran, code);
    expect(refusal(ran).hint).toContain(kept[0]);
    expect(ran.stderr).toMatch(
      /^Not in the journal: step 1, try 1, attempt 1 was answered accepted \(HTTP 201, request \S+, sent \S+Z\)\. /m,
    );
    expect(ran.stderr).toContain(`kept in ${kept[0]}`);

    const left = await bench.goesOn(op, email);
    expect(bench.writes()).toEqual([]);
    expect(left.steps[0]?.transport).toMatchObject({ attempts: 1, last_status: 201 });
    expect(left.steps[0]?.receipt?.attribution).toBe("proven");
  },
);

test.each([
  ["cut to nothing", changed("journal.db", (path) => truncateSync(path))],
  ["overwritten with garbage", garbled("journal.db", 0)],
  ["overwritten with garbage behind its first page", garbled("journal.db", 4096)],
])(
  "a journal that is %s in place, at either moment: what it holds is believed by nobody, and nothing is made twice",
  async (_what, damage) => {
    for (const moment of ["ahead of the intent", "between the sending and the recording of its answer"] as const) {
      const { op, email } = await bench.ready();
      const { ran, mend } = await bench.struck(op, moment, damage);
      const after = await bench.run(op);
      mend();
      // SQLite may still work from what it has in memory; whoever opens the file next refuses it.
      expect([4, 9, 11]).toContain(ran.code);
      expect([moment, after.code]).toEqual([moment, 9]);
      await bench.goesOn(op, email);
    }
  },
);
