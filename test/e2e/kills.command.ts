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

/** One command line through the command's own entry, in this process. */
export async function carryOut(dir: string, args: readonly string[]): Promise<Said> {
  const streams = { stdout: collector(), stderr: collector() };
  const code = await main(["-C", dir, ...args], {
    provider: (name) => loadProvider(name, sourcesIn),
    sandbox: () => Promise.reject(new Error("a tenant is a process of its own")),
    version: "0.0.0",
    streams,
  });
  return { args: [...args], code, stdout: streams.stdout.text(), stderr: streams.stderr.text() };
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
