#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { main } from "../src/cli/main.ts";

const { version } = JSON.parse(
  readFileSync(
    new URL(import.meta.url.endsWith(".ts") ? "../package.json" : "../../package.json", import.meta.url),
    "utf8",
  ),
);

// A reader that closes the pipe early has seen enough, and a terminal can be gone. Neither ends what is under way: a
// request may be in the air. Words that could not be written otherwise (a full disk) make a good end a bad one.
let unwritten = false;
for (const stream of [process.stdout, process.stderr])
  stream.on("error", (error: NodeJS.ErrnoException) => {
    unwritten ||= error.code !== "EPIPE" && !(error.code === "EIO" && stream.isTTY);
  });

const exit = await main(process.argv.slice(2), {
  provider: async (name) => {
    const [{ loadProvider }, { sourcesIn }] = await Promise.all([
      import("../providers/index.ts"),
      import("../src/runtime/sources.ts"),
    ]);
    return loadProvider(name, sourcesIn);
  },
  sandbox: () => import("../providers/sandbox/tenant/index.ts"),
  version,
  streams: process,
});

// What was written leaves before the process does, also through a pipe.
process.stdout.write("", () => process.stderr.write("", () => process.exit(exit === 0 && unwritten ? 1 : exit)));
