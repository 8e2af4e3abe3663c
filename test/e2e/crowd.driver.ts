import { setTimeout as pause } from "node:timers/promises";
import { dice } from "./crowd.dice.ts";
import { carryOut } from "./kills.command.ts";

/** One operation to bring to rest. */
export interface Work {
  op: string;
  email: string;
  /** Rolled back once it has been run to its end. */
  back: boolean;
}

/** What one command line of the crowd came to; `rest`: nothing more is to be done for the operation. */
export interface Step {
  op: string;
  command: "run" | "rollback";
  code: number;
  rest: boolean;
  /** Of a fault of ours or of the journal's, what was said. */
  said: string;
}

/**
 * One of several processes over one journal. Brings operations to rest in an order of its own, whoever else does the
 * same: `node crowd.driver.js '{"dir":…,"seed":…,"work":[…]}'`. Prints a line of JSON for each command.
 */
process.setMaxListeners(0);
const { dir, seed, work } = JSON.parse(process.argv[2] ?? "{}") as { dir: string; seed: number; work: Work[] };
const roll = dice(seed);
const left = [...work];
while (left.length > 0) {
  const at = roll(left.length);
  const one = left[at] as Work;
  if (await atRest(one)) left.splice(at, 1);
}
process.exit(0);

async function atRest({ op, email, back }: Work): Promise<boolean> {
  const ran = await command(op, "run", !back, [0, 6, 13]);
  // Whoever was invited accepts in his own time, and once.
  if (ran.code === 4) await carryOut(dir, ["sandbox", "accept", email]);
  if (ran.code === 10) await pause(20);
  if (ran.rest || !back || ![0, 6, 8].includes(ran.code)) return ran.rest;
  return (await command(op, "rollback", true, [0, 13])).rest;
}

async function command(op: string, name: Step["command"], ends: boolean, codes: number[]): Promise<Step> {
  const { code, stdout } = await carryOut(dir, [name, op, "--json"]);
  const rest = ends && codes.includes(code);
  const step: Step = { op, command: name, code, rest, said: code === 1 || code === 9 ? stdout : "" };
  await new Promise<void>((done) => process.stdout.write(`${JSON.stringify(step)}\n`, () => done()));
  return step;
}
