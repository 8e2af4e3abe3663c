import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Desk, endDesk, openDesk, PRIYA } from "./desk.ts";
import { accepted, run } from "./path.ts";
import { leaks } from "./secrets.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => endDesk(desk));

test("no token and no link that redeems an invitation is printed or stored, not even on request", async () => {
  const op = await accepted(desk, PRIYA);
  expect((await run(desk, op, "--verbose")).code).toBe(0);
  for (const args of [
    ["status", op],
    ["show", op],
    ["rollback", op],
    ["audit", "verify"],
  ])
    await desk.quick(...args, "--verbose");
  expect(desk.printed.join("")).toContain(op);
  expect(leaks(desk)).toEqual([]);
});

test("a token that the tenant no longer takes is not repeated in what is said of it", async () => {
  const file = desk.file(".provision/sandbox/read.token");
  const token = readFileSync(file, "utf8");
  writeFileSync(file, "sbx_read_of-another-start\n");
  const failed = await desk.provision("plan", desk.request("dead@example.test"), "--verbose");
  expect(failed.code).toBe(12);
  expect(leaks(desk)).toEqual([]);
  writeFileSync(file, token);
});

test("a credential that is written where a reference belongs is refused and not repeated", async () => {
  const before = readFileSync(desk.file("provision.yaml"), "utf8");
  const token = readFileSync(desk.file(".provision/sandbox/privileged.token"), "utf8").trim();
  desk.edit("provision.yaml", (yaml) => yaml.replace(/^( +)read:.*$/m, `$1read: ${token}`));
  const refused = await desk.quick("list", "--json", "--verbose");
  expect(refused.code).toBe(2);
  writeFileSync(desk.file("provision.yaml"), before);
  expect(leaks(desk)).toEqual([]);
});

test("the search finds a token and a link that were planted, in print, in a file and in the journal", async () => {
  const token = readFileSync(desk.file(".provision/sandbox/read.token"), "utf8").trim();
  for (const text of [`Bearer ${token}`, "http://127.0.0.1/redeem/abc"]) {
    expect(leaks({ ...desk, printed: [text] })).toEqual(["printed 0"]);
    writeFileSync(desk.file("notes.txt"), text);
    expect(leaks(desk)).toEqual([desk.file("notes.txt")]);
    rmSync(desk.file("notes.txt"));
  }
  const { openJournal } = await import("../../src/runtime/journal/journal.ts");
  const copy = desk.copy("planted");
  const io = {
    now: () => new Date().toISOString(),
    random: (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes)),
  };
  const journal = openJournal({ dir: copy.file(".provision"), ...io });
  journal.append(journal.last() ?? "", [{ kind: "op.stopped", by: "os:ana", reason: token }]);
  journal.close();
  expect(leaks(copy)).toEqual(["entries"]);
});
