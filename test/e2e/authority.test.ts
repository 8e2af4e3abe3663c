import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { afterAll, beforeAll, expect, test } from "vitest";
import { generateKey } from "../../src/runtime/approvals/sshkey.ts";
import { type Desk, endDesk, openDesk } from "./desk.ts";
import { accepted, approve, plan, run } from "./path.ts";

const APPROVER = "approver@acme-sandbox.test";

let desk: Desk;
/** Approved and not run. */
let fresh: string;
/** Stands before its last step, which is approved as well. */
let late: string;
beforeAll(async () => {
  desk = await openDesk();
  fresh = await plan(desk, "fresh@example.test");
  await approve(desk, fresh);
  late = await accepted(desk, "late@example.test", (yaml) => yaml);
  expect((await run(desk, late)).code).toBe(3);
  expect(await approve(desk, late)).toEqual([5]);
});
afterAll(() => endDesk(desk));

interface Change {
  says: string;
  file: string;
  /** Null: the file is gone. */
  change(text: string): string | null;
  code: string;
}

const CHANGES: Change[] = [
  { says: "the approvers file was emptied", file: "approvers", change: () => "", code: "roster_empty" },
  { says: "the approvers file is gone", file: "approvers", change: () => null, code: "roster_empty" },
  {
    says: "the approver's key was replaced",
    file: "approvers",
    change: (text) =>
      text.replace(/ssh-ed25519 \S+/, generateKey("x").publicLine.trim().split(" ").slice(0, 2).join(" ")),
    code: "unknown_key",
  },
  {
    says: "the key stands under another name",
    file: "approvers",
    change: (text) => text.replace(APPROVER, "somebody@acme-sandbox.test"),
    code: "principal_mismatch",
  },
  {
    says: "the key's time is over",
    file: "approvers",
    change: (text) => text.replace("namespaces=", 'valid-before="20200101Z",namespaces='),
    code: "key_expired",
  },
  {
    says: "the policy asks somebody else",
    file: "policy.yaml",
    change: (text) => text.replaceAll(APPROVER, "somebody@acme-sandbox.test"),
    code: "policy_changed",
  },
  {
    says: "the approver turned out to be who asked",
    file: "provision.yaml",
    change: (text) => `${text}\nidentities: { "os:${userInfo().username}": ${APPROVER} }\n`,
    code: "own_request",
  },
];

/** The file changed while `work` is done, and then as before. */
async function changed<T>({ file, change }: Change, work: () => Promise<T>): Promise<T> {
  const path = desk.file(file);
  const before = readFileSync(path, "utf8");
  const after = change(before);
  expect(after).not.toBe(before);
  if (after === null) rmSync(path);
  else writeFileSync(path, after, { mode: 0o644 });
  try {
    return await work();
  } finally {
    writeFileSync(path, before);
  }
}

for (const change of CHANGES)
  test(`an approval counts no longer when ${change.says}, for the first write and for the last`, async () => {
    const before = (await desk.tenant.writes()).length;
    await changed(change, async () => {
      for (const op of [fresh, late]) {
        const { code, left } = await run(desk, op);
        expect([code, left.error?.code]).toEqual([13, change.code]);
      }
    });
    expect((await desk.tenant.writes()).length).toBe(before);
  });

test("a rule that denies a step since then stops the run, and the rule is named", async () => {
  const deny = `  - id: nobody-on-call\n    effect: deny\n    match: { action: group.add, group: [on-call-readers] }\n\nrules:\n`;
  const change: Change = {
    says: "",
    file: "policy.yaml",
    change: (text) => text.replace("rules:\n", `rules:\n${deny.split("\nrules:")[0]}\n`),
    code: "",
  };
  const before = (await desk.tenant.writes()).length;
  const { code, left } = await changed(change, () => run(desk, late));
  expect(code).toBe(13);
  expect(left.error?.message).toContain("nobody-on-call");
  expect((await desk.tenant.writes()).length).toBe(before);
});

test("the command itself stops as well, and exits 13 with the reason beside the document", async () => {
  const [empty] = CHANGES as [Change];
  const ran = await changed(empty, () => desk.provision("run", fresh, "--json"));
  expect(ran.code).toBe(13);
  expect(ran.json()).toMatchObject({ schema: "provision.operation/v1", error: { code: "roster_empty" } });
});

test("with everything as it was, both runs go on", async () => {
  expect((await run(desk, fresh)).code).toBe(4);
  expect((await run(desk, late)).code).toBe(5);
});
