import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Desk, endDesk, openDesk } from "../e2e/desk.ts";
import { leaks } from "../e2e/secrets.ts";
import { passages, walk } from "./walker.ts";

const FOLDER = new URL("../../fixtures/stories/", import.meta.url);
const STORIES = readdirSync(FOLDER).filter((name) => name.endsWith(".txt"));

/**
 * With BLESS=1 in the environment every story is written anew as it went. Only whoever understands each line that
 * changes by it, and wants it so, may do that: a story is what users were promised to see.
 */
const BLESS = process.env.BLESS === "1";

/** One tenant for all stories; each begins with it as it was at its start, and with a folder as `init` leaves it. */
let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  // Longer than the tenant needs on a busy machine, so that no screen tells of a request that was given up.
  desk.edit("provision.yaml", (yaml) =>
    yaml.replace("provider: sandbox", "provider: sandbox\n    timing: { request: 3s, lease: 10s }"),
  );
});
afterAll(() => endDesk(desk));

for (const name of STORIES)
  test(`the story ${name.replace(/\.txt$/, "").replaceAll("-", " ")} goes as it is told`, async () => {
    const path = new URL(name, FOLDER);
    const told = readFileSync(path, "utf8");
    await desk.tenant.act("reset", {});
    const here = desk.copy(name.replace(".txt", ""));
    const went = await walk(told, here);
    if (BLESS) writeFileSync(path, went);
    else expect(went).toBe(told);
    expect(leaks(here)).toEqual([]);
  });

test("there are stories, and each has commands", () => {
  expect(STORIES.length).toBeGreaterThan(3);
  for (const name of STORIES) expect(passages(readFileSync(new URL(name, FOLDER), "utf8")).length).toBeGreaterThan(3);
});

test("a story that is told wrong is noticed", async () => {
  const told = "# Nothing is there yet.\n$ provision list\n----\nexit 1\n";
  expect(await walk(told, desk)).toBe(
    "# Nothing is there yet.\n$ provision list\n----\nexit 0\nThere is no operation yet.\n! provision plan <request.yaml> begins one.\n",
  );
});
