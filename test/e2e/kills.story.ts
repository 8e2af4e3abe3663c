import { expect } from "vitest";
import type { Operation } from "./desk.ts";
import { PRIYA } from "./desk.ts";
import { type Boundary, KINDS } from "./kills.boundary.ts";
import type { Said } from "./kills.command.ts";
import { againstTheRecord, documentIn, entriesOf, lastSeq, outcome, truth } from "./kills.judge.ts";
import { copyOf, type Driver, layOut, raise, removeRoot, type Stage, type Watched } from "./kills.stage.ts";

/** One way through the story: its command lines, what the folder says, and what the tenant does to whom. */
export interface Story {
  name: string;
  config(yaml: string): string;
  /** Exit codes of the lines in `linesFor`, without a kill. */
  codes: number[];
  /** Which of the lines are killed. */
  killed: number[];
  /** By what; SIGKILL where it is not said. */
  signal?: "SIGTERM";
  /** Set on the tenant ahead of a killed line and of the line that goes on. */
  faults?: { line: number; kind: string; action: string }[];
}

/** Longer than a busy machine needs: what is lost here is lost because its process was killed. */
export const PATIENT = (yaml: string) =>
  yaml.replace("provider: sandbox", "provider: sandbox\n    timing: { request: 5s, lease: 10s }");

export function linesFor(op: string): string[][] {
  return [
    ["run", op, "--json"],
    ["approve", op, "--yes", "--json"],
    ["run", op, "--json"],
    ["sandbox", "accept", PRIYA, "--json"],
    ["run", op, "--json"],
    ["approve", op, "--yes", "--json"],
    ["run", op, "--json"],
    ["rollback", op, "--json"],
    ["audit", "verify", "--json"],
  ];
}

/** The line that takes the story to its end, and the one that takes it all back. */
export const [FORWARD, BACK] = [6, 7];

/** The story once without a kill: the folder before each killed line, that line's boundaries, and what all came to. */
export interface Told {
  story: Story;
  op: string;
  before: Map<number, { dir: string; seq: number; boundaries: Boundary[] }>;
  end: { forward: unknown; back: unknown; truth: unknown };
}

export async function tell(root: string, driver: Driver, story: Story): Promise<Told> {
  const dir = await layOut(root, story.name, story.config);
  let stage = await raise(dir);
  const [planned] = await driver.perform(dir, [["plan", "plans/joiner.yaml", "--json"]]);
  const op = documentIn<{ operation_id: string }>(planned as Said).operation_id;
  const before: Told["before"] = new Map();
  const said: { code: number | null; stdout: string; stderr: string }[] = [];
  for (const [index, line] of linesFor(op).entries()) {
    if (!story.killed.includes(index)) {
      said.push((await driver.perform(dir, [line]))[0] as Said);
      continue;
    }
    await stage.close();
    const copy = copyOf(dir, `${story.name}-${index}`);
    stage = await raise(dir);
    await arm(stage, story, index);
    const watched = await stage.watch(line, 0);
    before.set(index, { dir: copy, seq: lastSeq(copy), boundaries: watched.boundaries });
    said.push(watched);
  }
  expect(said.map(({ code }) => code)).toEqual(story.codes);
  const end = {
    forward: outcome(documentIn<Operation>(said[FORWARD] as Said)),
    back: outcome(documentIn<Operation>(said[BACK] as Said)),
    truth: truth(stage.state()),
  };
  for (const { seq, boundaries } of before.values()) complete(seq, boundaries);
  expect(againstTheRecord(stage.state(), entriesOf(dir, op))).toEqual([]);
  await stage.close();
  removeRoot(dir);
  return { story, op, before, end };
}

/** Every entry of the line is behind a boundary on either side, and no boundary is unknown. */
function complete(first: number, boundaries: readonly Boundary[]): void {
  const of = (kind: Boundary["kind"]) => boundaries.filter((one) => one.kind === kind);
  const appended = of("append:after").flatMap(({ seqs }) => seqs);
  expect(appended).toEqual(appended.map((_, at) => first + 1 + at));
  expect(of("append:before").flatMap(({ seqs }) => seqs)).toEqual(appended);
  for (const kind of ["request:sent", "request:answered"] as const)
    expect(of(kind).map(({ what }) => what)).toEqual(of("request:before").map(({ what }) => what));
  expect(boundaries.every(({ kind }) => KINDS.includes(kind))).toBe(true);
}

async function arm(stage: Stage, { faults = [] }: Story, line: number): Promise<void> {
  for (const fault of faults) if (fault.line === line) await stage.fault(fault.kind, fault.action);
}

/** Kills one line at one boundary, lets another process go on to the end, and holds the end against the tenant. */
export async function killAt(told: Told, driver: Driver, line: number, n: number): Promise<void> {
  const { story, op, before, end } = told;
  const template = before.get(line);
  const boundary = template?.boundaries[n - 1];
  if (!template || !boundary) throw new Error(`there is no boundary ${n} in line ${line}`);
  const dir = copyOf(template.dir, `${story.name}-${line}-${n}`);
  const stage = await raise(dir);
  try {
    await arm(stage, story, line);
    const struck = await stage.watch(linesFor(op)[line] as string[], n, story.signal);
    if (story.signal) asked(struck, boundary, story.codes[line] as number);
    else {
      hit(struck, boundary);
      expect(lastSeq(dir), "the last entry that the dead process left").toBe(boundary.seq ?? template.seq);
    }
    const rest = linesFor(op).slice(line);
    const said = await driver.perform(dir, rest);
    expect(said.map(({ args, code }) => `${args[0]} ${code}`)).toEqual(
      rest.map(([command], at) => `${command} ${story.codes[line + at]}`),
    );
    if (line <= FORWARD) expect(outcome(documentIn<Operation>(said[FORWARD - line] as Said))).toEqual(end.forward);
    expect(outcome(documentIn<Operation>(said[BACK - line] as Said))).toEqual(end.back);
    expect(documentIn<object>(said.at(-1) as Said)).toMatchObject({ ok: true, problems: [] });
    expect(truth(stage.state())).toEqual(end.truth);
    expect(againstTheRecord(stage.state(), entriesOf(dir, op))).toEqual([]);
  } finally {
    await stage.close();
    removeRoot(dir);
  }
}

function hit({ signal, boundaries }: Watched, expected: Boundary): void {
  expect({ signal, boundaries }).toEqual({ signal: "SIGKILL", boundaries: [expected] });
}

/** Asked to stop: it says where the operation stands, in one document, and ends with 130 unless it was at its end. */
function asked(struck: Watched, expected: Boundary, atEnd: number): void {
  expect(struck.boundaries).toEqual([expected]);
  expect([130, atEnd]).toContain(struck.code);
  expect(documentIn<Operation>(struck).in_flight?.holder ?? null).toBeNull();
  if (expected.kind !== "append:after" && expected.kind !== "append:before") expect(struck.code).toBe(130);
}
