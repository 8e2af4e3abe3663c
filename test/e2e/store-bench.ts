import { expect } from "vitest";

import { type Answer, type Desk, endDesk, type Operation, openDesk } from "./desk.ts";
import { approve, plan, run } from "./path.ts";
import { type Between, between, type Passing } from "./store-between.ts";
import { asideIn, type Damage, inState } from "./store-damage.ts";

/** When the store fails under a run: as a request passes between the command and the tenant. */
export type Moment = "ahead of the intent" | "between the sending and the recording of its answer";

export interface Case {
  what: string;
  damage: Damage;
  exit: 9 | 11;
  code: string;
}

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

export interface Bench {
  desk: Desk;
  door: Between;
  /** Somebody new: planned and approved, so that the next run sends an invitation and nothing else. */
  ready(): Promise<{ op: string; email: string }>;
  /** The built command, that waits for a lock no longer than a moment. */
  with(...args: string[]): Promise<Answer>;
  run(op: string): Promise<Answer>;
  /** A run to which this happens at that moment, and what mends it. */
  struck(op: string, moment: Moment, damage: Damage): Promise<{ ran: Answer; mend: () => void }>;
  /** The store works again: what happened is settled by reading, and nothing was made twice. */
  goesOn(op: string, email: string): Promise<Operation>;
  /** What passed the door and was no read. */
  writes(): Passing[];
  close(): Promise<void>;
}

export async function openBench(): Promise<Bench> {
  const desk = await openDesk();
  desk.edit("provision.yaml", (yaml) =>
    yaml.replace("provider: sandbox", "provider: sandbox\n    timing: { request: 3s, lease: 10s }"),
  );
  const door = await between(desk);
  let people = 0;
  const start = (...args: string[]) => desk.with({ env }, ...args);
  return {
    desk,
    door,
    async ready() {
      people += 1;
      const email = `store-${people}@example.test`;
      const op = await plan(desk, email);
      await approve(desk, op);
      door.calm();
      return { op, email };
    },
    with: start,
    run: (op) => start("run", op, "--json"),
    async struck(op, moment, damage) {
      const mends: (() => void)[] = [];
      door.behind = ({ method }) => {
        if (mends.length === 0 && (method === "GET") === (moment === "ahead of the intent")) mends.push(damage(desk));
      };
      const ran = await start("run", op, "--json");
      door.behind = () => {};
      expect(mends).toHaveLength(1);
      return { ran, mend: () => mends[0]?.() };
    },
    async goesOn(op, email) {
      door.calm();
      const { code, left } = await run(desk, op);
      expect([code, left.state]).toEqual([4, "waiting"]);
      const { invitations } = await desk.tenant.state();
      expect(invitations.filter((one) => one.email === email)).toHaveLength(1);
      const audit = await desk.quick("audit", "verify", "--json");
      expect(audit.json<{ ok: boolean }>().ok).toBe(true);
      expect(asideIn(desk)).toEqual([]);
      return left;
    },
    writes: () => door.seen.filter(({ method }) => method !== "GET"),
    async close() {
      await door.close();
      await endDesk(desk);
    },
  };
}

export function refusal(ran: Answer): { code: string; message: string; hint: string } {
  return ran.json<{ error: { code: string; message: string; hint: string } }>().error;
}

/** What went wrong, where, and what to do about it. */
export function expectTold(desk: Desk, ran: Answer, code: string): void {
  const error = refusal(ran);
  expect(error.code).toBe(code);
  expect(error.message).toContain(inState(desk).replace(/\/$/, ""));
  expect(error.hint).toMatch(/restore|[Mm]ake room|permission|other process|Move /);
}
