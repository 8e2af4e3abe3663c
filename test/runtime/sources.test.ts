import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, expect, test } from "vitest";
import { sourcesIn } from "../../src/runtime/sources.ts";

const made: string[] = [];
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true });
});

function folderOf(files: Record<string, string>): URL {
  const top = mkdtempSync(join(tmpdir(), "provision-sources-"));
  made.push(top);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(top, path)), { recursive: true });
    writeFileSync(join(top, path), text);
  }
  return pathToFileURL(`${top}/`);
}

/** A source map as the compiler writes it. */
function mapOf(path: string, text: string | null): string {
  return JSON.stringify({ version: 3, sources: [`../../providers/${path}`], sourcesContent: [text], mappings: "" });
}

function sorted(folder: URL) {
  return sourcesIn(folder)?.sort((a, b) => (a.path < b.path ? -1 : 1));
}

const written = [
  { path: "deep/api.ts", text: "api" },
  { path: "index.ts", text: "index" },
];

test("sources are read as they lie there, but for the proof and the tenant", () => {
  const folder = folderOf({
    "index.ts": "index",
    "deep/api.ts": "api",
    "conformance.ts": "proof",
    "tenant/server.ts": "server",
    "README.md": "read me",
    "tr46.d.ts": "types",
  });
  expect(sorted(folder)).toEqual(written);
});

test("a build says what it was made of, to the letter", () => {
  const folder = folderOf({
    "index.js": "compiled",
    "index.js.map": mapOf("index.ts", "index"),
    "deep/api.js": "compiled",
    "deep/api.js.map": mapOf("deep/api.ts", "api"),
    "conformance.js": "compiled",
    "tenant/server.js": "compiled",
  });
  expect(sorted(folder)).toEqual(written);
});

test("a build of which one module keeps silent says nothing", () => {
  const map = { "index.js.map": mapOf("index.ts", "index") };
  expect(sourcesIn(folderOf({ "index.js": "", ...map, "api.js": "" }))).toBeUndefined();
  expect(sourcesIn(folderOf({ "index.js": "", "index.js.map": mapOf("index.ts", null) }))).toBeUndefined();
  expect(sourcesIn(folderOf({ "index.js": "", "index.js.map": '{"version":3,"sources":["a","b"]}' }))).toBeUndefined();
  expect(sourcesIn(folderOf({ "README.md": "" }))).toBeUndefined();
});
