import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Desk, endDesk, openDesk } from "./desk.ts";
import { accepted, approve, plan, run } from "./path.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => endDesk(desk));

const refused = async (op: string) => {
  const ran = await desk.quick("run", op, "--json");
  return [ran.code, ran.json<{ error?: { code: string; hint: string } }>().error];
};
const untrusted = [2, expect.objectContaining({ code: "untrusted", hint: expect.stringContaining("provision trust") })];

test("the folder that init wrote works as it stands, and with its privileged token uncommented, without a word of trust", async () => {
  const op = await accepted(desk, "first@example.test", (yaml) => yaml);
  desk.edit("provision.yaml", (yaml) => yaml.replace("# privileged:", "privileged:"));
  expect((await run(desk, op)).code).toBe(3);
  expect(await approve(desk, op)).toEqual([5]);
  expect((await run(desk, op)).code).toBe(0);
});

test("a command that was written in since runs only after a word of trust, and each change of the file takes that word back", async () => {
  const op = await plan(desk, "second@example.test");
  await approve(desk, op);
  const mark = desk.file("ran");
  const token = desk.file(".provision/sandbox/ordinary.token");
  const command = (name: string) => `{ command: [/bin/sh, -c, "echo >> ${mark}-${name}; cat ${token}"] }`;
  desk.edit("provision.yaml", (yaml) => yaml.replace(/^( +)ordinary:.*$/m, `$1ordinary: ${command("one")}`));
  expect(await refused(op)).toEqual(untrusted);
  expect(existsSync(`${mark}-one`)).toBe(false);
  expect((await desk.provision("trust")).code).toBe(0);
  expect((await run(desk, op)).code).toBe(4);
  expect(existsSync(`${mark}-one`)).toBe(true);

  await desk.tenant.accept("second@example.test");
  desk.edit("provision.yaml", (yaml) => yaml.replace(`${mark}-one`, `${mark}-two`));
  const before = (await desk.tenant.requests()).length;
  expect(await refused(op)).toEqual(untrusted);
  expect([existsSync(`${mark}-two`), (await desk.tenant.requests()).length]).toEqual([false, before]);
  expect((await desk.quick("run", op, "--config", "provision.yaml", "--json")).code).toBe(0);
});

test("a token file outside the folder is read only after a word of trust", async () => {
  desk.edit("provision.yaml", (yaml) => yaml.replace(/^( +)ordinary:.*$/m, "$1ordinary: { file: ../outside.token }"));
  writeFileSync(join(desk.dir, "..", "outside.token"), "stolen\n", { mode: 0o600 });
  const planned = await desk.quick("plan", desk.request("third@example.test"), "--json");
  expect([planned.code, planned.json<{ error: { code: string } }>().error.code]).toEqual([2, "untrusted"]);
  expect((await desk.provision("trust")).code).toBe(0);
  expect((await desk.quick("plan", desk.request("third@example.test"), "--json")).code).toBe(0);
});
