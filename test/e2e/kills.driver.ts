import { createInterface } from "node:readline";
import { carryOut, type Said } from "./kills.command.ts";

/** Command lines to be carried out one after another in one folder. */
export interface Order {
  dir: string;
  lines: readonly (readonly string[])[];
}

/**
 * Another process than the one that was lost, for a whole list of them: orders come as lines of JSON, and each is
 * answered by a line with what it came to. Every command line goes through the command's own entry.
 */
process.setMaxListeners(0);
for await (const order of createInterface({ input: process.stdin })) {
  const { dir, lines } = JSON.parse(order) as Order;
  const said: Said[] = [];
  for (const args of lines) said.push(await carryOut(dir, args));
  process.stdout.write(`${JSON.stringify(said)}\n`);
}
