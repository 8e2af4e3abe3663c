import { parentPort, workerData } from "node:worker_threads";
import { carryOut, type Task } from "./task.ts";

const { stopAtFirst } = workerData as { stopAtFirst: boolean };

// One task at a time, as they are handed in.
parentPort?.on("message", (task: Task) => parentPort?.postMessage(carryOut(task, stopAtFirst)));
