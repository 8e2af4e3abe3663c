import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Boundary, KINDS } from "./kills.boundary.ts";
import { type Driver, newRoot, removeRoot, startDriver } from "./kills.stage.ts";
import { killAt, PATIENT, type Story, type Told, tell } from "./kills.story.ts";

/** `npm run test:kills` kills at every boundary; the ordinary run at a spread of them. */
const ALL = process.env.KILLS === "all";
const AT_ONCE = 3;
const FEW_MINUTES = 900_000;

const privileged = (yaml: string) => PATIENT(yaml).replace("# privileged:", "privileged:");

const STORIES: Story[] = [
  { name: "denied", config: PATIENT, codes: [3, 0, 4, 0, 3, 0, 5, 0, 0], killed: [0, 2, 4, 6, 7] },
  { name: "privileged", config: privileged, codes: [3, 0, 4, 0, 3, 0, 0, 0, 0], killed: ALL ? [6, 7] : [7] },
  {
    name: "lost",
    config: PATIENT,
    codes: [3, 0, 4, 0, 3, 0, 5, 0, 0],
    killed: [2],
    faults: [{ line: 2, kind: "lost_after_commit", action: "invitation.create" }],
  },
  {
    name: "asked",
    config: PATIENT,
    codes: [3, 0, 4, 0, 3, 0, 5, 0, 0],
    killed: ALL ? [2, 4, 6, 7] : [4],
    signal: "SIGTERM",
  },
];

let root: string;
let drivers: Driver[];
beforeAll(() => {
  root = newRoot();
  drivers = Array.from({ length: AT_ONCE }, () => startDriver(root));
});
afterAll(async () => {
  await Promise.all(drivers.map((driver) => driver.close()));
  removeRoot(root);
});

/** Of each kind one, at a write where the line has any; and every place where a write is in the air. */
function spread(boundaries: readonly Boundary[]): Boundary[] {
  const atWrite = ({ what }: Boundary) =>
    /^[a-z]/.test(what) ? /step\.(requested|transport)/.test(what) : !/^GET/.test(what);
  const chosen = KINDS.flatMap((kind) => {
    const those = boundaries.filter((one) => one.kind === kind);
    const writes = those.filter(atWrite);
    if (kind === "request:sent" && writes.length > 0) return writes;
    const from = writes.length > 0 ? writes : those;
    return from[Math.floor(from.length / 2)] ?? [];
  });
  return boundaries.filter((one) => chosen.includes(one));
}

/** Kills three at once; each failure says where. */
async function killEach(told: Told): Promise<number> {
  const places = [...told.before].flatMap(([line, { boundaries }]) =>
    (ALL ? boundaries : spread(boundaries)).map((boundary) => ({ line, boundary })),
  );
  const failures: string[] = [];
  const queue = [...places];
  const work = async (driver: Driver) => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { line, boundary } = next;
      await killAt(told, driver, line, boundary.n).catch((error: Error) => {
        failures.push(`line ${line}, boundary ${boundary.n} (${boundary.kind} ${boundary.what}): ${error.message}`);
      });
    }
  };
  await Promise.all(drivers.map(work));
  expect(failures).toEqual([]);
  return places.length;
}

describe.each(STORIES)("the story, $name ($signal):", (story) => {
  test(
    "wherever its process is killed, the next one brings it to the same end, and the tenant got each change once",
    async () => {
      const told = await tell(root, drivers[0] as Driver, story);
      const killed = await killEach(told);
      const all = [...told.before.values()].flatMap(({ boundaries }) => boundaries);
      const of = KINDS.map((kind) => `${all.filter((one) => one.kind === kind).length} ${kind}`);
      console.log(`${story.name}: killed at ${killed} of ${all.length} boundaries (${of.join(", ")})`);
      for (const { boundaries } of told.before.values())
        expect(new Set((ALL ? boundaries : spread(boundaries)).map(({ kind }) => kind)).size).toBe(
          new Set(boundaries.map(({ kind }) => kind)).size,
        );
    },
    FEW_MINUTES,
  );
});
