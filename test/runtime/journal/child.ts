import { randomBytes } from "node:crypto";
import { openJournal } from "../../../src/runtime/journal/journal.ts";

/** What the concurrency test runs in processes of its own: opens the journal of a folder and appends to it. */
const [dir = "", name = "", count = "0", shared = ""] = process.argv.slice(2);
const journal = openJournal({
  dir,
  now: () => new Date().toISOString(),
  random: (bytes) => randomBytes(bytes),
});
const op = `prov_2026_07_24_${name}`;
journal.create(op, { kind: "plan.frozen", plan: "{}", plan_hash: "x" }, { intent: name, subjects: [] });
for (let i = 0; i < Number(count); i++) {
  journal.append(op, [{ kind: "op.stopped", by: name, reason: `${i}` }]);
  if (shared !== "") journal.append(shared, [{ kind: "op.stopped", by: name, reason: `${i}` }]);
}
journal.close();
