import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { type Desk, endDesk, openDesk } from "./desk.ts";

interface Case {
  name: string;
  yaml?: string;
  /** A text too long to be written out: `before`, so many times `text`, `after`. */
  repeat?: { before: string; text: string; times: number; after: string };
  expect: { path?: string; code: string }[];
  /** Entries that the catalogue has besides, or in place of those of the same name. */
  catalog?: Record<string, { name: string }[]>;
}

interface Refused {
  error: { code: string; message: string; details: { path: string; code: string }[] };
}

const CASES: Case[] = JSON.parse(
  readFileSync(new URL("../../fixtures/requests/malformed.json", import.meta.url), "utf8"),
);

let desk: Desk;
let catalog: string;
beforeAll(async () => {
  desk = await openDesk();
  catalog = readFileSync(desk.file("catalog/acme-sandbox.yaml"), "utf8");
});
afterAll(() => endDesk(desk));

function textOf({ yaml, repeat }: Case): string {
  return yaml ?? `${repeat?.before}${repeat?.text.repeat(repeat.times)}${repeat?.after}`;
}

function write(one: Case): void {
  writeFileSync(desk.file("request.yaml"), textOf(one));
  const shelves = parse(catalog) as Record<string, { name: string }[]>;
  for (const [shelf, entries] of Object.entries(one.catalog ?? {})) {
    const names = entries.map(({ name }) => name);
    shelves[shelf] = [...(shelves[shelf] ?? []).filter(({ name }) => !names.includes(name)), ...entries];
  }
  writeFileSync(desk.file("catalog/acme-sandbox.yaml"), one.catalog ? JSON.stringify(shelves) : catalog);
}

/** All findings and no other; of a text that is no request at all there is a code only. */
function check(one: Case, { error }: Refused): void {
  // A catalogue that a case brings along may be at fault itself.
  const about = error.details.filter(({ path }) => !path.startsWith("catalog."));
  const found = about.map(({ path, code }) => `${path} ${code}`);
  if (one.expect.every(({ path }) => path !== undefined))
    expect(found.sort()).toEqual(one.expect.map(({ path, code }) => `${path} ${code}`).sort());
  else
    for (const { code } of one.expect) expect([error.code, ...error.details.map((each) => each.code)]).toContain(code);
  expect(error.message).not.toBe("");
}

for (const one of CASES)
  test(`a request is refused for ${one.name}, with all that is wrong and nothing asked of the tenant`, async () => {
    write(one);
    const refused = await desk.quick("plan", "request.yaml", "--json");
    expect([refused.code, refused.stderr]).toEqual([2, ""]);
    check(one, refused.json<Refused>());
    expect(await desk.tenant.requests()).toEqual([]);
    expect(existsSync(desk.file(".provision/journal.db"))).toBe(false);
  });

const AS_PROCESS = [
  "an unknown key at the top",
  "a look-alike domain with a Cyrillic letter",
  "two megabytes of text",
  "aliases that double eight times nine",
];

for (const one of CASES.filter(({ name }) => AS_PROCESS.includes(name)))
  test(`the command itself refuses ${one.name}, from standard input too`, async () => {
    const refused = await desk.with({ input: textOf(one) }, "plan", "-", "--json");
    expect([refused.code, refused.stderr]).toEqual([2, ""]);
    check(one, refused.json<Refused>());
    expect(await desk.tenant.requests()).toEqual([]);
  });

test("without --json nothing is on standard output, and the findings stand on standard error", async () => {
  const one = CASES.find(({ name }) => name === "names, domain and shape wrong together") as Case;
  write(one);
  const shown = await desk.provision("plan", "request.yaml");
  expect([shown.code, shown.stdout]).toEqual([2, ""]);
  for (const { path, code } of one.expect) expect(shown.stderr).toContain(`  ${path}: ${code}`);
});

test("a plan reads and sends no write, also where the configuration has no credential that could", async () => {
  desk.edit("provision.yaml", (yaml) => yaml.replace(/^ +ordinary:.*\n/m, ""));
  expect(readFileSync(desk.file("provision.yaml"), "utf8")).not.toMatch(/^ +(ordinary|privileged):/m);
  const planned = await desk.provision("plan", "plans/joiner.yaml", "--json");
  expect([planned.code, planned.json().schema, planned.json().state]).toEqual([
    0,
    "provision.planned/v1",
    "awaiting_approval",
  ]);
  const requests = await desk.tenant.requests();
  expect(requests.length).toBeGreaterThan(0);
  expect(new Set(requests.map(({ method, token }) => `${method} ${token}`))).toEqual(new Set(["GET read"]));
});

test("a trial run of a plan reads as well, and leaves no operation", async () => {
  const before = await desk.entries();
  const tried = await desk.quick("plan", desk.request("dry@example.test"), "--dry-run", "--json");
  expect(tried.code).toBe(0);
  expect(tried.json()).not.toHaveProperty("operation_id");
  expect(await desk.entries()).toBe(before);
});

test("a tenant that does not answer gives no plan", async () => {
  await desk.stop();
  writeFileSync(desk.file(".provision/sandbox/url"), "http://127.0.0.1:9\n");
  const failed = await desk.quick("plan", desk.request("nobody@example.test"), "--json");
  expect([failed.code, failed.json<Refused>().error.code]).toEqual([12, "unreadable"]);
});

test("a refused request costs no credential, and a sound one costs that of reading alone", async () => {
  rmSync(desk.file(".provision/sandbox/url"));
  await desk.start();
  const used = desk.file("used");
  const command = (name: string) =>
    `{ command: [/bin/sh, -c, "echo ${name} >> ${used}; cat ${desk.file(".provision/sandbox")}/${name}.token"] }`;
  desk.edit("provision.yaml", (yaml) =>
    yaml.replace(/^( +)read:.*$/m, `$1read: ${command("read")}\n$1ordinary: ${command("ordinary")}`),
  );
  write({ name: "", yaml: "kind: joiner\ntenant: acme-sandbox\n", expect: [] });
  const config = ["--config", "provision.yaml"];
  expect((await desk.quick("plan", "request.yaml", ...config)).code).toBe(2);
  expect(existsSync(used)).toBe(false);
  expect((await desk.quick("plan", desk.request("cost@example.test"), ...config)).code).toBe(0);
  expect(new Set(readFileSync(used, "utf8").trim().split("\n"))).toEqual(new Set(["read"]));
});
