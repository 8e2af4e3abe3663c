import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { add, noOutcome, type Outcome, type Task } from "./task.ts";

export interface PoolOptions {
  /** The worker as it was built: `worker.js` of the simulator, or of a copy that was spoilt on purpose. */
  worker: URL;
  threads?: number;
  /** No further task is begun once something was found. */
  stopAtFirst?: boolean;
  /** Called whenever a task is done. */
  told?(so_far: Outcome, done: number): void;
}

/** Does the tasks on as many threads as there are cores, in order, and adds up what they came to. */
export async function pooled(tasks: readonly Task[], options: PoolOptions): Promise<Outcome> {
  const { worker, threads = availableParallelism(), stopAtFirst = false, told } = options;
  const total = noOutcome();
  let next = 0;
  let done = 0;
  const lane = async () => {
    const thread = new Worker(worker, { workerData: { stopAtFirst } });
    try {
      for (;;) {
        const task = stopAtFirst && total.found.length > 0 ? undefined : tasks[next++];
        if (!task) return;
        add(total, await answered(thread, task));
        done += 1;
        told?.(total, done);
      }
    } finally {
      await thread.terminate();
    }
  };
  await Promise.all(Array.from({ length: Math.min(threads, tasks.length) }, lane));
  return total;
}

function answered(thread: Worker, task: Task): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error) => reject(error);
    thread.once("error", failed);
    thread.once("message", (outcome: Outcome) => {
      thread.off("error", failed);
      resolve(outcome);
    });
    thread.postMessage(task);
  });
}

/** Tasks over a range of seeds, small enough to be shared out. */
export function seedTasks(from: number, count: number, each = 2000): Task[] {
  const tasks: Task[] = [];
  for (let at = from; at < from + count; at += each)
    tasks.push({ kind: "seeds", from: at, to: Math.min(at + each, from + count) });
  return tasks;
}
