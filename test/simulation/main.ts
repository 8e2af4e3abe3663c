import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { completeForm } from "./forms.ts";
import { hunt } from "./hunt.ts";
import { pooled, seedTasks } from "./pool.ts";
import { breaches, invariantTable, plantedTable, retelling, summary } from "./report.ts";
import { sample } from "./sampled.ts";
import { noCounts } from "./scenario.ts";
import { add, noOutcome, type Outcome, type Task } from "./task.ts";

const USAGE = `npm run test:sim -- [options]

  --worlds N       sampled worlds (1000000)
  --from N         the first seed (1)
  --seed N         tells the story of one sampled world, and does nothing else
  --replay JSON    tells the story of one enumerated history: {"scenario":…,"path":[…]}, as a violation prints it
  --part P         one part alone: exhaustive, sampled or planted
`;

const { values } = parseArgs({
  options: {
    worlds: { type: "string", default: "1000000" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    replay: { type: "string" },
    part: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

const worker = new URL("./worker.js", import.meta.url);
const say = (text: string) => process.stdout.write(`${text}\n`);

if (values.help) say(USAGE);
else if (values.seed !== undefined) sample(Number(values.seed), noCounts(), { add: () => {} }, say);
else if (values.replay !== undefined) say(retelling(JSON.parse(values.replay)).join("\n"));
else process.exitCode = (await everything()) ? 0 : 1;

/** True where nothing was broken, everything was at stake, and every planted bug was caught. */
async function everything(): Promise<boolean> {
  const { part } = values;
  const total = noOutcome();
  say(`on ${availableParallelism()} threads`);
  if (part === undefined || part === "exhaustive")
    add(
      total,
      await played(
        "exhaustive",
        completeForm().map((job): Task => ({ kind: "job", job })),
      ),
    );
  if (part === undefined || part === "sampled")
    add(total, await played("sampled", seedTasks(Number(values.from), Number(values.worlds))));
  let sound = true;
  if (part !== "planted") {
    say(invariantTable(total));
    for (const line of breaches(total)) say(line);
    sound = total.found.length === 0 && Object.values(total.stakes).every((count) => count > 0);
  }
  if (part !== undefined && part !== "planted") return sound;
  const caught = await hunt(process.cwd());
  say(plantedTable(caught));
  return sound && caught.every(({ by }) => by !== null && by !== "crash");
}

async function played(name: string, tasks: Task[]): Promise<Outcome> {
  const began = performance.now();
  let last = began;
  const outcome = await pooled(tasks, {
    worker,
    told(so_far, done) {
      if (performance.now() - last < 30_000) return;
      last = performance.now();
      process.stderr.write(`${name}: ${done} of ${tasks.length} parts, ${so_far.histories} histories\n`);
    },
  });
  say(summary(name, outcome, performance.now() - began));
  return outcome;
}
