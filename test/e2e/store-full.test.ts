import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, renameSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bench, expectTold, openBench } from "./store-bench.ts";
import { asideIn, type Damage, inState } from "./store-damage.ts";

/** A small disk of its own under the folder; only root can mount one. */
function mount(folder: string): boolean {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m,mode=0700", "tmpfs", folder], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const unmount = (folder: string) => execFileSync("umount", ["--lazy", folder], { stdio: "ignore" });

function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), "provision-mount-"));
  try {
    const mounted = mount(folder);
    if (mounted) unmount(folder);
    return mounted;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Takes every byte that is left, and gives it back. */
const full: Damage = (desk) => {
  const filler = inState(desk, "filler");
  for (let n = 0, size = 1 << 20; size >= 4096; n++) {
    try {
      writeFileSync(`${filler}-${n}`, Buffer.alloc(size));
    } catch {
      rmSync(`${filler}-${n}`, { force: true });
      size >>= 1;
    }
  }
  expect(statfsSync(inState(desk)).bfree).toBe(0);
  return () => {
    for (const name of readdirSync(inState(desk)).filter((name) => name.startsWith("filler")))
      rmSync(inState(desk, name));
  };
};

describe.runIf(canMount())("a disk that is full", () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench();
    const folder = inState(bench.desk).replace(/\/$/, "");
    renameSync(folder, `${folder}-was`);
    execFileSync("mkdir", ["-m", "0700", folder]);
    mount(folder);
    cpSync(`${folder}-was`, folder, { recursive: true });
    rmSync(`${folder}-was`, { recursive: true });
  });
  afterAll(async () => {
    unmount(inState(bench.desk));
    await bench.close();
  });

  test("as a run begins: exit 11, and nothing is sent", async () => {
    const { op, email } = await bench.ready();
    const mend = full(bench.desk);
    const ran = await bench.run(op);
    mend();
    expect([ran.code, ran.stderr, bench.writes()]).toEqual([11, "", []]);
    expectTold(bench.desk, ran, "journal_unwritable");
    await bench.goesOn(op, email);
  });

  test("ahead of the intent: exit 11, and nothing is sent", async () => {
    const { op, email } = await bench.ready();
    const { ran, mend } = await bench.struck(op, "ahead of the intent", full);
    mend();
    expect([ran.code, ran.stderr, bench.writes()]).toEqual([11, "", []]);
    expectTold(bench.desk, ran, "journal_unwritable");
    await bench.goesOn(op, email);
  });

  test("between the sending and the recording of its answer: exit 11, and there was room for the answer", async () => {
    const { op, email } = await bench.ready();
    const { ran, mend } = await bench.struck(op, "between the sending and the recording of its answer", full);
    const kept = asideIn(bench.desk);
    mend();
    expect([ran.code, bench.writes().length, kept.length]).toEqual([11, 1, 1]);
    expectTold(bench.desk, ran, "journal_unwritable");
    expect(ran.stderr).toMatch(/^Not in the journal: .* accepted \(HTTP 201, .* is kept in /m);
    const left = await bench.goesOn(op, email);
    expect(bench.writes()).toEqual([]);
    expect(left.steps[0]?.transport).toMatchObject({ attempts: 1, last_status: 201 });
  });
});
