import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import type { CredentialSource } from "../../src/model/config.ts";
import { credentials } from "../../src/runtime/credentials.ts";
import { clean, Secret } from "../../src/runtime/secret.ts";

const CANARY = "canary-7Zq9-token";
const dir = mkdtempSync(join(tmpdir(), "provision-credentials-"));
afterAll(() => rmSync(dir, { recursive: true }));

function of(
  read: CredentialSource | undefined,
  more: { env?: NodeJS.ProcessEnv; nowMs?: () => number; commandMs?: number } = {},
) {
  return credentials({ name: "acme", credentials: { read } }, { dir, env: {}, ...more });
}

let scripts = 0;
/** A program that does what the lines of shell say. */
function program(lines: string): string {
  const path = join(dir, `program-${++scripts}`);
  writeFileSync(path, `#!/bin/sh\n${lines}\n`, { mode: 0o700 });
  return path;
}

function file(name: string, text: string, mode = 0o600): string {
  writeFileSync(join(dir, name), text);
  chmodSync(join(dir, name), mode);
  return name;
}

/** Everything that a failure could show to anyone. */
async function shownBy(act: Promise<unknown>): Promise<{ code: string; exit: number; all: string }> {
  const error = await act.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error) || !("code" in error)) throw new Error("nothing was refused");
  const all = [error.message, error.stack, JSON.stringify(error), inspect(error, { depth: 9, showHidden: true })].join(
    "\n",
  );
  return { code: String(error.code), exit: "exit" in error ? Number(error.exit) : -1, all };
}

describe("a secret", () => {
  test("prints as nothing but its label, whatever is done with it", () => {
    const secret = new Secret(CANARY);
    const shown = [
      String(secret),
      `${secret}`,
      JSON.stringify({ secret }),
      inspect({ secret }, { showHidden: true, depth: 9 }),
    ];
    shown.push(
      Object.keys(secret).join(),
      JSON.stringify(structuredClone(secret)),
      [secret, ""].join("-"),
      inspect(new Error("x", { cause: secret })),
    );
    expect(shown.join("\n")).not.toContain(CANARY);
    expect(secret.reveal()).toBe(CANARY);
  });

  test("is found in a text in each of its usual spellings", () => {
    const secret = new Secret("a+b/c=?token>>");
    const base64 = Buffer.from("a+b/c=?token>>").toString("base64");
    for (const form of [
      "a+b/c=?token>>",
      base64,
      Buffer.from("a+b/c=?token>>").toString("base64url"),
      "a%2Bb%2Fc%3D%3Ftoken%3E%3E",
    ]) {
      expect(secret.appearsIn(`x${form}y`)).toBe(true);
    }
    expect(secret.appearsIn("a+b")).toBe(false);
  });

  test("loses one newline or space at the end", () => {
    for (const end of ["", "\n", "\r\n", " "]) expect(clean(CANARY + end, "it").reveal()).toBe(CANARY);
  });

  test.each([
    "",
    "\n",
    `${CANARY}\n\n`,
    `${CANARY} x`,
    `\t${CANARY}`,
    `${CANARY}\u0000`,
    `${CANARY}é`,
    "x".repeat(16_385),
  ])("case %# is refused without being shown", async (text) => {
    const { code, exit, all } = await shownBy((async () => clean(text, "The variable T"))());
    expect([code, exit]).toEqual(["credential_malformed", 2]);
    expect(all).not.toContain(CANARY);
    expect(all).toContain("The variable T");
  });
});

describe("a credential", () => {
  test("comes from a variable, a file or a command", async () => {
    expect((await of({ env: "T" }, { env: { T: `${CANARY}\n` } }).load("read")).reveal()).toBe(CANARY);
    expect((await of({ file: file("token", `${CANARY}\n`) }).load("read")).reveal()).toBe(CANARY);
    expect((await of({ command: [program(`echo ${CANARY}`)] }).load("read")).reveal()).toBe(CANARY);
  });

  test("is read when it is asked for, once, and again at a refresh", async () => {
    const marker = join(dir, "calls");
    const both = credentials(
      {
        name: "acme",
        credentials: {
          read: { command: [program(`echo x >> ${marker}-read; echo ${CANARY}`)] },
          privileged: { command: [program(`echo x >> ${marker}-privileged; echo ${CANARY}`)] },
        },
      },
      { dir, env: {} },
    );
    expect(existsSync(`${marker}-read`)).toBe(false);
    const pair = await Promise.all([both.load("read"), both.load("read")]);
    expect(pair[0]).toBe(pair[1]);
    expect(existsSync(`${marker}-privileged`)).toBe(false);
    await both.refresh("read");
    await both.load("read");
    const calls = readFileSync(`${marker}-read`, "utf8");
    expect(calls.match(/x/g)).toHaveLength(2);
    expect([both.has("read"), both.has("ordinary"), both.live().length]).toEqual([true, false, 1]);
  });

  test("that is not configured is refused by tenant, class and where to name it", async () => {
    const { code, exit, all } = await shownBy(of(undefined).load("read"));
    expect([code, exit]).toEqual(["credential_missing", 2]);
    for (const part of ["acme", "read", "tenants.acme.credentials.read"]) expect(all).toContain(part);
  });

  test("in a keyring is refused by name", async () => {
    expect(await shownBy(of({ keyring: "acme" }).load("read"))).toMatchObject({ code: "keyring_unavailable", exit: 2 });
  });

  test("whose variable or file is not there says which", async () => {
    expect(await shownBy(of({ env: "NOT_SET" }).load("read"))).toMatchObject({
      code: "credential_unset",
      all: expect.stringContaining("NOT_SET"),
    });
    expect(await shownBy(of({ file: "nothing" }).load("read"))).toMatchObject({
      code: "credential_unset",
      all: expect.stringContaining(join(dir, "nothing")),
    });
  });

  test.each([0o640, 0o604, 0o660])("in a file of mode %o is refused", async (mode) => {
    const { code, exit, all } = await shownBy(of({ file: file("open", CANARY, mode) }).load("read"));
    expect([code, exit]).toEqual(["credential_file_open", 2]);
    expect(all).not.toContain(CANARY);
  });

  test("a failure is not remembered", async () => {
    const env: NodeJS.ProcessEnv = {};
    const later = of({ env: "T" }, { env });
    await expect(later.load("read")).rejects.toThrow();
    env.T = CANARY;
    expect((await later.load("read")).reveal()).toBe(CANARY);
  });
});

describe("a credential command", () => {
  test("gets its arguments as they stand and an environment of three variables", async () => {
    const path = program(`echo "$1/$SECRET_OF_OTHERS/$(env | grep -c -E '^(AWS|SECRET)')"`);
    const env = { PATH: process.env.PATH, HOME: dir, LANG: "C", SECRET_OF_OTHERS: "x", AWS_KEY: "y" };
    const token = await of({ command: [path, "$(id);x"] }, { env }).load("read");
    expect(token.reveal()).toBe("$(id);x//0");
  });

  test("may print JSON with an end of life, and is asked again with less than a minute left", async () => {
    let now = Date.parse("2026-07-24T10:00:00Z");
    const path = program(`echo '{"version":1,"token":"'$(date +%N)x'","expires_at":"2026-07-24T11:00:00+00:00"}'`);
    const short = of({ command: [path] }, { nowMs: () => now });
    const first = await short.load("read");
    now += 59 * 60_000 - 1;
    expect(await short.load("read")).toBe(first);
    now += 2;
    expect(await shownBy(short.load("read"))).toMatchObject({ code: "credential_expired", exit: 12 });
  });

  test("that worked before and fails now is no fault of the configuration: exit 12; one that never worked: exit 2", async () => {
    const stamp = join(dir, "once");
    const once = of({ command: [program(`test -e ${stamp} && exit 3; touch ${stamp}; echo ${CANARY}`)] });
    await once.load("read");
    expect(await shownBy(once.refresh("read"))).toMatchObject({
      code: "credential_command",
      exit: 12,
      all: expect.stringContaining("It gave a token before."),
    });
    expect(await shownBy(of({ command: [program("exit 3")] }).load("read"))).toMatchObject({ exit: 2 });
  });

  test.each([
    ["fails", `echo ${CANARY}; echo ${CANARY} >&2; exit 3`, "exit code 3"],
    ["dies by a signal", `echo ${CANARY}; kill -TERM $$`, "SIGTERM"],
    ["prints too much", `echo ${CANARY}; head -c 20000 /dev/zero | tr '\\0' x`, "16384 bytes"],
    ["prints nothing", "true", "holds nothing"],
    ["prints two lines", `echo ${CANARY}; echo ${CANARY}`, "line breaks"],
    ["prints broken JSON", `echo '{"token":"${CANARY}"'`, "another form"],
    ["prints unknown keys", `echo '{"token":"${CANARY}","${CANARY}":1}'`, "another form"],
    ["prints a bad date", `echo '{"token":"${CANARY}","expires_at":"${CANARY}"}'`, "expires_at"],
  ])("that %s is refused, and nothing that it printed is shown", async (_what, lines, why) => {
    const { exit, all } = await shownBy(of({ command: [program(lines)] }).load("read"));
    expect(exit).toBe(2);
    expect(all).toContain(why);
    expect(all.replaceAll(dir, "")).not.toContain(CANARY);
  });

  test("that does not end is killed, also where a child of it holds the pipe", async () => {
    const started = performance.now();
    const { code } = await shownBy(of({ command: [program("sleep 3 & sleep 3")] }, { commandMs: 100 }).load("read"));
    expect(code).toBe("credential_command");
    expect(performance.now() - started).toBeLessThan(900);
  });

  test("that does not exist says so", async () => {
    const { code, all } = await shownBy(of({ command: [join(dir, "no-such-program")] }).load("read"));
    expect(code).toBe("credential_command");
    expect(all).toContain("ENOENT");
  });
});
