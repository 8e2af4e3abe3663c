import type { StepKind, WriteStep } from "../../src/model/plan.ts";
import type { ProofRow, Verdict } from "../../src/model/proof.ts";
import type { Double, Way } from "./double.ts";
import { FAULTS, type Fault } from "./faults.ts";
import { judge, Red } from "./judge.ts";
import { playOn } from "./play.ts";

export type { Double, Edit, Truth, Way, World } from "./double.ts";

/** Every row, and by fault what each of them showed. */
export interface Matrix {
  rows: readonly ProofRow[];
  cells: ReadonlyMap<string, ReadonlyMap<ProofRow, Verdict>>;
}

interface Cell {
  row: ProofRow;
  kind: WriteStep["kind"];
  way: Way;
  fault: Fault;
}

export interface Selection {
  rows?: (row: ProofRow) => boolean;
  faults?: (name: string) => boolean;
}

/** How many cells are played side by side, each on a tenant of its own. Most of a cell is waiting. */
const SIDE_BY_SIDE = 8;

/** Puts every write step of the provider, and every way back, through every fault. */
export async function conform(double: Double, selection: Selection = {}): Promise<Matrix> {
  const rows = (await rowsOf(double)).filter((row) => selection.rows?.(row) ?? true);
  const faults = FAULTS.filter(({ name }) => selection.faults?.(name) ?? true);
  const cells = new Map(faults.map(({ name }) => [name, new Map<ProofRow, Verdict>()]));
  const queue = faults.flatMap((fault) => rows.map((row): Cell => ({ ...partsOf(row), row, fault })));
  const work = async (): Promise<void> => {
    for (let cell = queue.pop(); cell; cell = queue.pop())
      cells.get(cell.fault.name)?.set(cell.row, await verdictOf(double, cell));
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work));
  return { rows, cells };
}

/** Each kind forward, and its way back where its description names one. */
async function rowsOf(double: Double): Promise<ProofRow[]> {
  const kinds = double.provider.capabilities.stepKinds.filter((kind) => kind !== "wait_for_acceptance");
  const rows: ProofRow[] = [];
  for (const kind of kinds) {
    const world = await double.start(kind, "plain");
    try {
      const [step] = playOn(double, world).state().plan.steps;
      rows.push(kind);
      if (step && "undo" in step && step.undo !== null) rows.push(`${kind} undo`);
    } finally {
      await world.close();
    }
  }
  return rows;
}

function partsOf(row: ProofRow): { kind: WriteStep["kind"]; way: Way } {
  const [kind, undo] = row.split(" ") as [Exclude<StepKind, "wait_for_acceptance">, string?];
  return { kind, way: undo === undefined ? "apply" : "undo" };
}

/** A cell that is called impossible is played all the same: what is named as the reason must be so. */
async function verdictOf(double: Double, { kind, way, fault }: Cell): Promise<Verdict> {
  const fact = double.impossible(fault.name, kind, way);
  const world = await double.start(kind, fault.dress ?? "plain");
  const play = playOn(double, world);
  try {
    const { struck } = await judge(play, fact === undefined ? fault : asCalm(fault), way);
    if (fact !== undefined) return struck === 0 ? `n/a: ${fact}` : `red: called impossible (${fact}), and it struck`;
    return struck > 0 || fault.unseen ? "green" : "red: it struck nothing, and no fact says why";
  } catch (error) {
    if (error instanceof Red) return `red: ${error.message}`;
    return `red: it broke: ${error instanceof Error ? error.message : String(error)}`;
  } finally {
    await play.close();
    await world.close();
  }
}

/** What cannot befall the step leaves it as if nothing were wrong. */
function asCalm(fault: Fault): Fault {
  const { applied: _, silent: __, undoWords: ___, ...rest } = fault;
  return { ...rest, words: ["done"], end: "done" };
}
