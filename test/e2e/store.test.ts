import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Answer, type Desk, endDesk, type Json, type Operation, openDesk } from "./desk.ts";
import { accepted, approve, holds, plan, results, rollback, run } from "./path.ts";
import { type Between, between } from "./store-between.ts";

let desk: Desk;
let door: Between;
beforeAll(async () => {
  desk = await openDesk();
  desk.edit("provision.yaml", (yaml) =>
    yaml.replace("provider: sandbox", "provider: sandbox\n    timing: { request: 3s, lease: 10s }"),
  );
  door = await between(desk);
});
afterEach(() => door.calm());
afterAll(async () => {
  await door.close();
  await endDesk(desk);
});

const state = (name = "") => desk.file(join(".provision", name));
const files = () => readdirSync(state()).filter((name) => statSync(state(name)).isFile());
const aside = () => files().filter((name) => name.startsWith("unrecorded-"));

/** Waits for a lock as the command does, but not for five seconds. */
const SHORT_WAIT = `
import { createRequire } from "node:module";
const { prototype } = createRequire(${JSON.stringify(import.meta.url)})("better-sqlite3");
const { pragma } = prototype;
prototype.pragma = function (text, ...more) {
  const result = pragma.call(this, text, ...more);
  if (text.startsWith("trusted_schema")) pragma.call(this, "busy_timeout = 40");
  return result;
};`;
const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(SHORT_WAIT)}` };

/** Something that happens to the state folder, and what takes it back; undefined where nothing is left to do. */
type Damage = () => (() => void) | undefined;

function chattr(flag: "+i" | "-i", names: readonly string[]): void {
  execFileSync("chattr", [flag, ...names.map((name) => state(name))], { stdio: "ignore" });
}

/** Whether this machine lets a file be made unchangeable: as root permission bits do not bind. */
function canFix(): boolean {
  const path = join("/tmp", `provision-fixed-${process.pid}`);
  try {
    writeFileSync(path, "");
    execFileSync("chattr", ["+i", path], { stdio: "ignore" });
    execFileSync("chattr", ["-i", path], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(path, { force: true });
  }
}

const fixed =
  (...names: string[]): Damage =>
  () => {
    chattr("+i", names);
    return () => chattr("-i", names);
  };

function locked(file: string): Damage {
  return () => {
    const db = new Sqlite(state(file));
    db.exec("BEGIN IMMEDIATE");
    return () => {
      db.exec("ROLLBACK");
      db.close();
    };
  };
}

/** The whole folder as it was, but for what was kept beside the journal since. */
function restorer(): () => void {
  const copy = desk.file("copy");
  rmSync(copy, { recursive: true, force: true });
  cpSync(state(), copy, { recursive: true, filter: (path) => !path.includes("unrecorded-") });
  return () => {
    for (const name of files().filter((name) => !name.startsWith("unrecorded-"))) rmSync(state(name));
    cpSync(copy, state(), { recursive: true });
    rmSync(copy, { recursive: true });
  };
}

const gone =
  (...names: string[]): Damage =>
  () => {
    const restore = restorer();
    for (const name of names) rmSync(state(name), { recursive: true, force: true });
    return restore;
  };

const changed =
  (name: string, change: (path: string) => void): Damage =>
  () => {
    const restore = restorer();
    change(state(name));
    return restore;
  };

/** Planned and approved: the next run sends an invitation, and nothing else. */
async function ready(email: string): Promise<string> {
  const op = await plan(desk, email);
  await approve(desk, op);
  door.calm();
  return op;
}

const refused = (ran: Answer) => ran.json<{ error: { code: string; message: string; hint: string } }>().error;
const applied = async (email: string) => (await desk.tenant.state()).invitations.filter((one) => one.email === email);
const posts = () => door.seen.filter(({ method }) => method !== "GET");

/** What, where, why, and what to do. */
function tells(ran: Answer, code: string): void {
  const error = refused(ran);
  expect(error.code).toBe(code);
  expect(error.message).toContain(state().replace(/\/$/, ""));
  expect(error.hint).toMatch(/restore|room|permission|other process|Move /);
}

/** Once the store works again: settled by reading, and nothing sent twice. */
async function goesOn(op: string, email: string): Promise<Operation> {
  door.calm();
  const { code, left } = await run(desk, op);
  expect([code, left.state]).toEqual([4, "waiting"]);
  expect(await applied(email)).toHaveLength(1);
  expect((await desk.quick("audit", "verify", "--json")).json<{ ok: boolean }>().ok).toBe(true);
  expect(aside()).toEqual([]);
  return left;
}

interface Case {
  what: string;
  damage: Damage;
  exit: 9 | 11;
  code: string;
}

const root = canFix();
let cases = 0;
const someone = () => `store-${++cases}@example.test`;

describe("a journal that cannot be used as a run begins", () => {
  const CASES: (Case | false)[] = [
    { what: "locked by another process", damage: locked("journal.db"), exit: 11, code: "journal_busy" },
    root && { what: "read-only, each file", damage: () => fixed(...files())(), exit: 11, code: "journal_unwritable" },
    root && { what: "in a read-only folder", damage: fixed(""), exit: 11, code: "journal_unwritable" },
    { what: "gone", damage: gone("journal.db"), exit: 9, code: "journal_missing" },
    {
      what: "gone, keys and all, but for its mark",
      damage: gone("journal.db", "keys.db"),
      exit: 9,
      code: "journal_missing",
    },
    {
      what: "of zero bytes",
      damage: changed("journal.db", (path) => truncateSync(path)),
      exit: 9,
      code: "journal_missing",
    },
    {
      what: "cut to half",
      damage: changed("journal.db", (path) => truncateSync(path, (statSync(path).size >> 13) << 12)),
      exit: 9,
      code: "journal_corrupt",
    },
    {
      what: "garbage from its second page on",
      damage: changed("journal.db", (path) => overwrite(path, 4096, statSync(path).size - 4096)),
      exit: 9,
      code: "journal_corrupt",
    },
    { what: "without its keys", damage: gone("keys.db"), exit: 9, code: "keys_missing" },
    {
      what: "with garbage for keys",
      damage: changed("keys.db", (path) => overwrite(path, 0, 8192)),
      exit: 9,
      code: "journal_corrupt",
    },
    {
      what: "with empty keys",
      damage: changed("keys.db", (path) => truncateSync(path)),
      exit: 9,
      code: "keys_missing",
    },
    { what: "without its master key", damage: gone("master.key"), exit: 9, code: "master_key_missing" },
    { what: "without its mark", damage: gone("mark"), exit: 9, code: "mark_missing" },
    {
      what: "with garbage for its mark",
      damage: changed("mark", (path) => writeFileSync(path, "x")),
      exit: 9,
      code: "mark_damaged",
    },
  ];

  test.each(CASES.filter((one) => one !== false))(
    "$what: exit $exit, nothing is begun anew and nothing sent",
    async ({ damage, exit, code }) => {
      const email = someone();
      const op = await ready(email);
      const mend = damage();
      const before = contents();
      const ran = await desk.with({ env }, "run", op, "--json");
      const after = contents();
      mend?.();
      expect([ran.code, ran.stderr]).toEqual([exit, ""]);
      tells(ran, code);
      expect(after).toEqual(before);
      expect(door.seen).toEqual([]);
      await goesOn(op, email);
    },
  );

  test("an older copy of the journal, or of its keys, under the mark of now: exit 9", async () => {
    const restoreOld = restorer();
    const old = desk.file("old");
    renameSync(desk.file("copy"), old);
    const email = someone();
    const op = await ready(email);
    for (const [name, code] of [
      ["journal.db", "journal_shorter"],
      ["keys.db", "key_missing"],
    ] as const) {
      const restore = restorer();
      cpSync(join(old, name), state(name));
      const ran = await desk.with({ env }, "run", op, "--json");
      expect([ran.code, refused(ran).code]).toEqual([9, code]);
      restore();
    }
    expect(door.seen).toEqual([]);
    rmSync(old, { recursive: true });
    expect(restoreOld).toBeTypeOf("function");
    await goesOn(op, email);
  });
});

/** What happens to a run whose store fails at this moment: once, as the request passes. */
type Moment = "ahead of the intent" | "between the sending and the recording of its answer";

async function struck(
  op: string,
  moment: Moment,
  damage: Damage,
): Promise<{ ran: Answer; mend: (() => void) | undefined }> {
  let mend: (() => void) | undefined;
  let done = false;
  door.behind = ({ method }) => {
    if (done || (method === "GET") !== (moment === "ahead of the intent")) return;
    done = true;
    mend = damage();
  };
  const ran = await desk.with({ env }, "run", op, "--json");
  door.behind = () => {};
  expect(done).toBe(true);
  return { ran, mend };
}

const exchanged = (name: string): Damage =>
  changed(name, (path) => {
    cpSync(path, `${path}.new`);
    renameSync(`${path}.new`, path);
  });

const MIDST: (Case | false)[] = [
  { what: "locked by another process", damage: locked("journal.db"), exit: 11, code: "journal_busy" },
  root && { what: "whose log became read-only", damage: fixed("journal.db-wal"), exit: 11, code: "journal_unwritable" },
  root && {
    what: "whose files became read-only",
    damage: () => fixed(...files())(),
    exit: 11,
    code: "journal_unwritable",
  },
  root && { what: "whose mark became read-only", damage: fixed("mark"), exit: 11, code: "journal_unwritable" },
  { what: "that was deleted", damage: gone("journal.db"), exit: 9, code: "journal_missing" },
  { what: "whose log was deleted", damage: gone("journal.db-wal"), exit: 9, code: "journal_missing" },
  { what: "that was exchanged for a copy", damage: exchanged("journal.db"), exit: 9, code: "journal_replaced" },
  { what: "whose keys were deleted", damage: gone("keys.db"), exit: 9, code: "journal_missing" },
  { what: "whose mark was deleted", damage: gone("mark"), exit: 9, code: "mark_missing" },
  { what: "of which every file was deleted", damage: () => gone(...files())(), exit: 9, code: "mark_missing" },
];
const cases9 = MIDST.filter((one) => one !== false);

describe("a journal that fails under a run", () => {
  test.each(cases9)("$what ahead of the intent: exit $exit, and nothing is sent", async ({ damage, exit, code }) => {
    const email = someone();
    const op = await ready(email);
    const { ran, mend } = await struck(op, "ahead of the intent", damage);
    mend?.();
    expect([ran.code, ran.stderr, posts()]).toEqual([exit, "", []]);
    tells(ran, code);
    await goesOn(op, email);
    expect(posts()).toHaveLength(1);
  });

  test.each(cases9)(
    "$what between the sending and the recording of its answer: exit $exit, and the answer is kept",
    async ({ damage, exit, code }) => {
      const email = someone();
      const op = await ready(email);
      const { ran, mend } = await struck(op, "between the sending and the recording of its answer", damage);
      const kept = aside();
      const modes = kept.map((name) => statSync(state(name)).mode & 0o777);
      mend?.();
      expect([ran.code, posts().length]).toEqual([exit, 1]);
      tells(ran, code);
      expect(refused(ran).hint).toContain(state(kept[0]));
      expect(modes).toEqual([0o600]);
      expect(ran.stderr).toMatch(
        /^Not in the journal: step 1, try 1, attempt 1 was answered accepted \(HTTP 201, request \S+, sent /,
      );
      expect(ran.stderr).toContain(state(kept[0]));
      const left = await goesOn(op, email);
      expect(posts()).toEqual([]);
      expect(left.steps[0]?.transport).toMatchObject({ attempts: 1, last_status: 201 });
      expect(left.steps[0]?.receipt?.attribution).toBe("proven");
    },
  );
});

/** Noise that is the same in every run. */
function overwrite(path: string, from: number, length: number): void {
  const bytes = readFileSync(path);
  for (let at = from; at < from + length && at < bytes.length; at++) bytes[at] = (at * 7919) >> 3;
  writeFileSync(path, bytes);
}

/** Everything that a journal is made of. What SQLite keeps for readers beside it is no content. */
function contents(): Record<string, string> {
  const kept = files().filter((name) => !/-(?:shm|wal)$/.test(name));
  return Object.fromEntries(kept.map((name) => [name, readFileSync(state(name), "latin1")]));
}
