import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { sourceHash } from "../../src/model/proof.ts";
import { sourcesIn } from "../../src/runtime/sources.ts";
import { conformanceOf, linesOf, textOf } from "./file.ts";
import { sandbox } from "./sandbox.double.ts";
import { conform } from "./suite.ts";

/** Puts the providers that have a double through the matrix and keeps what it shows. Run at the top of the repository. */
const folder = pathToFileURL(`${process.cwd()}/providers/sandbox/`);
const sources = sourcesIn(folder);
if (sources === undefined) throw new Error(`There are no sources in ${folder.href}.`);
const began = performance.now();
const matrix = await conform(sandbox);
const conformance = conformanceOf("sandbox", sourceHash(sources), matrix);
writeFileSync(new URL("conformance.ts", folder), textOf(conformance));

const lines = linesOf(conformance, conformance.rows);
const red = lines.filter((line) => line.includes(" · red: "));
const green = lines.filter((line) => line.endsWith(" · green"));
const seconds = Math.round((performance.now() - began) / 1000);
for (const line of red) console.log(line);
console.log(
  `${conformance.rows.length} rows, ${matrix.cells.size} faults: ${green.length} green, ${red.length} red, ${lines.length - green.length - red.length} n/a, in ${seconds} s`,
);
