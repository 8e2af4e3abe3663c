import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { dice } from "./crowd.dice.ts";
import type { Step, Work } from "./crowd.driver.ts";
import { disagreements, holdingsOf, saidToHold } from "./crowd.judge.ts";
import { peopleFor, prepare, seedOf } from "./crowd.people.ts";
import type { Operation } from "./desk.ts";
import type { Said } from "./kills.command.ts";
import { againstTheRecord, documentIn, entriesOf } from "./kills.judge.ts";
import { BUILT, type Driver, layOut, newRoot, raise, removeRoot, type Stage, startDriver } from "./kills.stage.ts";
import { PATIENT } from "./kills.story.ts";

/** `npm run test:crowd` sends two hundred; the ordinary run a few. */
const COUNT = Number(process.env.CROWD ?? 36);
const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const PROCESSES = 4;
/** Beyond this nobody is killed any more, so that it comes to an end. */
const KILLS = Math.ceil(COUNT / 2);
const FEW_MINUTES = 900_000;

let root: string;
let driver: Driver;
let stage: Stage;
beforeAll(() => {
  root = newRoot();
  driver = startDriver(root);
});
afterAll(async () => {
  await driver.close();
  await stage?.close();
  removeRoot(root);
});

interface Crowd {
  resting: Map<string, Step>;
  killed: number;
  commands: number;
  faults: string[];
}

/** Four processes over one journal; each is killed at moments that the dice name, and another takes its place. */
async function bringToRest(dir: string, env: NodeJS.ProcessEnv, work: readonly Work[]): Promise<Crowd> {
  const roll = dice(SEED);
  const crowd: Crowd = { resting: new Map(), killed: 0, commands: 0, faults: [] };
  const life = async () => {
    for (;;) {
      const left = work.filter(({ op }) => !crowd.resting.has(op));
      if (left.length === 0 || crowd.faults.length > 0) return;
      const order = JSON.stringify({ dir, seed: roll(2 ** 31), work: left });
      const child = spawn(process.execPath, [join(BUILT, "crowd.driver.js"), order], {
        cwd: dir,
        env,
        stdio: ["ignore", "pipe", "inherit"],
      });
      const timer = setTimeout(() => child.kill("SIGKILL"), 300 + roll(1_500));
      if (crowd.killed >= KILLS) clearTimeout(timer);
      const { signal, code } = await heard(child, crowd);
      clearTimeout(timer);
      if (signal === "SIGKILL") crowd.killed += 1;
      else if (code !== 0) crowd.faults.push(`a process ended with ${code ?? signal}`);
    }
  };
  await Promise.all(Array.from({ length: PROCESSES }, life));
  return crowd;
}

async function heard(child: ChildProcess, crowd: Crowd): Promise<{ code: number | null; signal: string | null }> {
  const ended = new Promise<{ code: number | null; signal: string | null }>((done) =>
    child.once("close", (code, signal) => done({ code, signal })),
  );
  if (child.stdout)
    createInterface({ input: child.stdout }).on("line", (line) => {
      // A process that was killed may have been cut off within its last word.
      if (!line.endsWith("}")) return;
      const step = JSON.parse(line) as Step;
      crowd.commands += 1;
      if (step.rest) crowd.resting.set(step.op, step);
      if (step.said !== "") crowd.faults.push(`${step.command} ${step.op} ended with ${step.code}: ${step.said}`);
    });
  return ended;
}

test(
  "many operations run by four processes at once, which are killed again and again, end as the tenant says",
  async () => {
    const people = peopleFor(COUNT);
    const dir = await layOut(root, "crowd", PATIENT);
    stage = await raise(dir, seedOf(people));
    const before = stage.state();
    const work = await prepare(driver, dir, people);
    // So long is each write in the air, for a process to be killed over it.
    for (const action of ["invitation.create", "role.set", "group.add", "group.remove"])
      await stage.fault("delay:80", action, 100_000);
    const crowd = await bringToRest(dir, stage.env, work);
    console.log(
      `SEED=${SEED}: ${work.length} operations of ${people.length} people, ${PROCESSES} processes at once, ${crowd.killed} killed, ${crowd.commands} commands`,
    );
    expect(crowd.faults, `SEED=${SEED}`).toEqual([]);
    expect(crowd.killed).toBeGreaterThan(PROCESSES);

    const said = await driver.perform(dir, [
      ...work.map(({ op }) => ["status", op, "--json"]),
      ["audit", "verify", "--json"],
    ]);
    const documents = said.slice(0, -1).map((one) => documentIn<Operation>(one));
    expect(documentIn<object>(said.at(-1) as Said)).toMatchObject({ ok: true, problems: [] });
    const state = stage.state();
    const entries = new Map(work.map(({ op }) => [op, entriesOf(dir, op)]));
    const found = documents.flatMap((one) => disagreements(one, entries.get(one.operation_id) ?? [], state.requests));
    expect(found, `SEED=${SEED}`).toEqual([]);
    expect(againstTheRecord(state, [...entries.values()].flat()), `SEED=${SEED}`).toEqual([]);

    for (const { email, has, wishes } of people) {
      const theirs = documents.filter(({ subject }) => subject.email?.toLowerCase() === email);
      const states = theirs.map((one) => one.state);
      const holds = holdingsOf(state, email);
      if (wishes.length === 1) {
        expect(states, email).toEqual([wishes[0]?.back ? "rolled_back" : "completed"]);
        const { role, engineering } = saidToHold(theirs[0] as Operation);
        if (role !== null) expect(holds?.split(" ")[0], email).toBe(role);
        if (engineering !== null) expect(holds?.includes("engineering"), email).toBe(engineering);
      } else if (wishes[0]?.ahead) {
        expect(states[0], email).toBe("rolled_back");
        expect(["completed", "diverged"], email).toContain(states[1]);
        expect(holds?.split(" ")[0], email).toBe("guest");
      } else expect(states, email).toEqual(["superseded", "completed"]);
      // What somebody had before is there, whatever was given and taken back.
      if (has && wishes[0]?.back) expect(holds, email).toContain(holdingsOf(before, email));
    }
    for (const email of ["owner@acme-sandbox.test", "mira@acme-sandbox.test"])
      expect(holdingsOf(state, email)).toBe(holdingsOf(before, email));
    expect(state.mails).toEqual([]);
  },
  FEW_MINUTES,
);
