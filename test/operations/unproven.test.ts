import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { loadProvider, type SourcesIn } from "../../providers/index.ts";
import { conformance } from "../../providers/sandbox/conformance.ts";
import { type StartedTenant, startTenant } from "../../providers/sandbox/tenant/index.ts";
import { type Conformance, unprovenKinds } from "../../src/model/proof.ts";
import type { ProviderLoader } from "../../src/model/provider.ts";
import { openDesk } from "../../src/operations/desk.ts";
import { initFolder } from "../../src/operations/init.ts";
import { type Planned, planRequest } from "../../src/operations/plan.ts";
import { sourcesIn } from "../../src/runtime/sources.ts";
import { readYamlFile } from "../../src/runtime/yaml.ts";
import { shellIn } from "./shell.double.ts";

const root = mkdtempSync(join(tmpdir(), "provision-unproven-"));
let tenant: StartedTenant;
beforeAll(async () => {
  tenant = await startTenant();
});
afterAll(async () => {
  await tenant.close();
  rmSync(root, { recursive: true });
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(root, "folder-"));
  initFolder(shellIn(folder), "sandbox");
  mkdirSync(join(folder, ".provision/sandbox"));
  const { read, ordinary } = tenant.tokens;
  for (const [name, text] of Object.entries({ url: tenant.url, "read.token": read, "ordinary.token": ordinary }))
    writeFileSync(join(folder, ".provision/sandbox", name), text, { mode: 0o600 });
});
const opened: { close(): void }[] = [];
afterEach(() => {
  for (const desk of opened.splice(0)) desk.close();
});

async function planned(provider: ProviderLoader): Promise<Planned> {
  const desk = openDesk(shellIn(folder, { provider, now: Date.now }));
  opened.push(desk);
  const request = readYamlFile(join(folder, "plans/joiner.yaml"), "the request");
  return planRequest(desk, request, { dryRun: true, fresh: false });
}

const gates = ({ plan }: Planned) => plan.steps.map(({ kind, gate }) => `${kind} ${gate}`);
const loaded =
  (sources: SourcesIn): ProviderLoader =>
  (name) =>
    loadProvider(name, sources);

const ALL_PER_CALL = ["invite call", "wait_for_acceptance none", "set_role call", "add_group call", "add_group call"];

describe("what a plan asks a person", () => {
  test("is what the step is worth, where the matrix is green on the sources at hand", async () => {
    expect((await loadProvider("sandbox", sourcesIn))?.unproven).toEqual([]);
    expect(gates(await planned(loaded(sourcesIn)))).toEqual([
      "invite plan",
      "wait_for_acceptance none",
      "set_role plan",
      "add_group plan",
      "add_group call",
    ]);
  });

  test("is every write, once a single source of the provider was changed", async () => {
    const changed: SourcesIn = (of) =>
      sourcesIn(of)?.map((file) => (file.path === "api.ts" ? { ...file, text: `${file.text}\n` } : file));
    const plan = await planned(loaded(changed));
    expect(gates(plan)).toEqual(ALL_PER_CALL);
    expect(plan.cards[2]?.text).toContain(
      "why asked   nothing shows that this provider holds here when something goes",
    );
  });

  test("is every write, where nobody can tell what the provider was made of", async () => {
    expect(gates(await planned(loaded(() => undefined)))).toEqual(ALL_PER_CALL);
  });

  test("is the very step of which one cell is no longer green, and no other", async () => {
    const red: Conformance = {
      ...conformance,
      cells: { ...conformance.cells, calm: { "add_group undo": "red: says paused, not done", others: "green" } },
    };
    const plan = await planned(async (name) => {
      const provider = await loadProvider(name, sourcesIn);
      return (
        provider && {
          ...provider,
          unproven: unprovenKinds(provider.capabilities.stepKinds, red, conformance.source),
        }
      );
    });
    expect(gates(plan)).toEqual([
      "invite plan",
      "wait_for_acceptance none",
      "set_role plan",
      "add_group call",
      "add_group call",
    ]);
  });
});
