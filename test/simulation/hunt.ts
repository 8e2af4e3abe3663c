import { availableParallelism } from "node:os";
import { boundedForm } from "./forms.ts";
import { type Breach, INVARIANTS } from "./invariants.ts";
import { PLANTED, type Planted } from "./planted.ts";
import { pooled, seedTasks } from "./pool.ts";
import { spoil } from "./spoil.ts";
import type { Task } from "./task.ts";

export interface Caught {
  planted: Planted;
  /** The invariant that named it; null: it was not noticed. */
  by: Breach["invariant"] | null;
  detail: string;
  histories: number;
}

/** Plants each mistake by itself and looks for it until it is named. */
export async function hunt(root: string, planted: readonly Planted[] = PLANTED): Promise<Caught[]> {
  const caught: Caught[] = [];
  let next = 0;
  const lane = async () => {
    for (let one = planted[next++]; one; one = planted[next++]) caught.push(await seek(root, one));
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
  return caught.sort((a, b) => planted.indexOf(a.planted) - planted.indexOf(b.planted));
}

async function seek(root: string, planted: Planted): Promise<Caught> {
  const spoilt = spoil(root, planted);
  try {
    const found = await pooled(grounds(), { worker: spoilt.worker, threads: 1, stopAtFirst: true });
    const named = found.found.find(({ breach }) => breach.invariant in INVARIANTS) ?? found.found[0];
    return {
      planted,
      histories: found.histories,
      by: named?.breach.invariant ?? null,
      detail: named?.breach.detail ?? "",
    };
  } finally {
    spoilt.remove();
  }
}

/** Where it is looked for: sampled worlds, which are the most different from each other, then short plans one by one. */
function grounds(): Task[] {
  return [...seedTasks(1, 20_000, 2000), ...boundedForm().map((job): Task => ({ kind: "job", job }))];
}
