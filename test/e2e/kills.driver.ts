import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { loadProvider } from "../../providers/index.ts";
import { main } from "../../src/cli/main.ts";
import { sourcesIn } from "../../src/runtime/sources.ts";

/** What one command line came to. */
export interface Said {
  args: string[];
  code: number;
  stdout: string;
  stderr: string;
}

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
  for (const args of lines) said.push(await carryOut(dir, [...args]));
  process.stdout.write(`${JSON.stringify(said)}\n`);
}

async function carryOut(dir: string, args: string[]): Promise<Said> {
  const streams = { stdout: collector(), stderr: collector() };
  const code = await main(["-C", dir, ...args], {
    provider: (name) => loadProvider(name, sourcesIn),
    sandbox: () => Promise.reject(new Error("a tenant is a process of its own")),
    version: "0.0.0",
    streams,
  });
  return { args, code, stdout: streams.stdout.text(), stderr: streams.stderr.text() };
}

function collector(): NodeJS.WritableStream & { text(): string } {
  const written: Buffer[] = [];
  const stream = new Writable({
    write(chunk, _encoding, next) {
      written.push(Buffer.from(chunk));
      next();
    },
  });
  return Object.assign(stream, { text: () => Buffer.concat(written).toString("utf8") });
}
