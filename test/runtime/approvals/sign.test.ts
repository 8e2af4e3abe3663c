import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { ProvisionError } from "../../../src/model/errors.ts";
import { parsePublicLine } from "../../../src/runtime/approvals/pubkey.ts";
import type { RosterEntry } from "../../../src/runtime/approvals/roster.ts";
import { agentCandidates, signWith } from "../../../src/runtime/approvals/sign.ts";
import { generateKey } from "../../../src/runtime/approvals/sshkey.ts";
import { verifySshsig } from "../../../src/runtime/approvals/sshsig.ts";
import { ed25519, forge } from "./forge.ts";
import { hasSshKeygen, inFolder, sshKeygen, withSshKeygen } from "./openssh.ts";

const message = Buffer.from('{"decision":"approve"}');

afterEach(() => {
  vi.unstubAllEnvs();
});

async function refusal(run: () => Promise<unknown>): Promise<ProvisionError> {
  try {
    await run();
  } catch (fault) {
    if (fault instanceof ProvisionError) return fault;
    throw fault;
  }
  throw new Error("it was accepted");
}

/** A program that stands where ssh-keygen would, for what the real one does rarely. */
function standIn(folder: string, name: string, script: string): { PATH: string } {
  writeFileSync(join(folder, name), `#!${process.execPath}\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
  return { PATH: folder };
}

function publicHalf(folder: string): { file: string; key: ReturnType<typeof ed25519> } {
  const key = ed25519();
  const file = join(folder, "key.pub");
  writeFileSync(file, `${key.keyType} ${key.blob.toString("base64")} ana\n`);
  return { file, key };
}

describe("a plain Ed25519 key", () => {
  test("signs without any other program, and is named a plain file", async () => {
    await inFolder(async (folder) => {
      const { privateText, blob } = generateKey("ana");
      writeFileSync(join(folder, "key"), privateText, { mode: 0o600 });
      const signed = await signWith({ keyFile: join(folder, "key") }, message, { env: { PATH: folder } });
      expect(signed).toMatchObject({ kind: "plain-file", keyType: "ssh-ed25519" });
      expect(signed.publicKeyBlob.equals(blob)).toBe(true);
      expect(verifySshsig(signed.armoured, message).namespace).toBe("provision-approval");
    });
  });
});

describe("every other key", () => {
  test("needs ssh-keygen, and says so where it is missing", async () => {
    await inFolder(async (folder) => {
      const { file } = publicHalf(folder);
      const fault = await refusal(() => signWith({ keyFile: file }, message, { env: { PATH: folder } }));
      expect(fault).toMatchObject({ code: "ssh_keygen_missing", exit: 2 });
      expect(fault.hint).toMatch(/openssh-client/);
    });
  });

  test("is given to ssh-keygen as arguments, the statement on standard input, and no token of ours", async () => {
    await inFolder(async (folder) => {
      const { file, key } = publicHalf(folder);
      writeFileSync(join(folder, "answer"), forge(key, message));
      const seen = join(folder, "seen");
      const env = {
        ...standIn(
          folder,
          "ssh-keygen",
          `const fs = require("node:fs");
          const input = fs.readFileSync(0, "utf8");
          fs.writeFileSync(${JSON.stringify(seen)}, JSON.stringify({ argv: process.argv.slice(2), input, env: process.env }));
          process.stdout.write(fs.readFileSync(${JSON.stringify(join(folder, "answer"))}));`,
        ),
        SSH_AUTH_SOCK: "/nowhere",
        ACME_TOKEN: "canary",
      };
      const signed = await signWith({ keyFile: file }, message, { env });
      expect(signed.kind).toBe("agent");
      const { argv, input, env: given } = JSON.parse(readFileSync(seen, "utf8"));
      expect(argv).toEqual(["-Y", "sign", "-U", "-f", file, "-n", "provision-approval"]);
      expect(input).toBe(message.toString());
      expect(given).toMatchObject({ SSH_AUTH_SOCK: "/nowhere", SSH_ASKPASS_REQUIRE: "never" });
      expect(given.ACME_TOKEN).toBeUndefined();
    });
  });

  test.each<[string, (folder: string, key: ReturnType<typeof ed25519>) => string]>([
    ["over something else", (_, key) => forge(key, Buffer.from("other"))],
    ["for another namespace", (_, key) => forge(key, message, { namespace: "git" })],
    ["by another key", () => forge(ed25519(), message)],
    ["that is none", () => "Signature: yes"],
  ])("gives no signature on that is %s", async (_, answer) => {
    await inFolder(async (folder) => {
      const { file, key } = publicHalf(folder);
      const script = `process.stdin.resume(); process.stdout.write(${JSON.stringify(answer(folder, key))}); process.stdin.destroy()`;
      const fault = await refusal(() =>
        signWith({ keyFile: file }, message, { env: standIn(folder, "ssh-keygen", script) }),
      );
      expect(["bad_signature", "signing_failed"]).toContain(fault.code);
    });
  });

  test("that fails is refused by the exit code, with the last words escaped", async () => {
    await inFolder(async (folder) => {
      const { file } = publicHalf(folder);
      const script = 'process.stderr.write("first\\nagent \\u001b[31mrefused\\u202e\\n"); process.exitCode = 255';
      const heard: string[] = [];
      const env = standIn(folder, "ssh-keygen", script);
      const fault = await refusal(() =>
        signWith({ keyFile: file }, message, { env, notice: (line) => heard.push(line) }),
      );
      expect(fault).toMatchObject({ code: "signing_failed", exit: 13 });
      expect(fault.message).toContain("ended with 255, saying: agent <U+001B>[31mrefused<U+202E>");
      expect(heard).toEqual(["first", "agent <U+001B>[31mrefused<U+202E>"]);
    });
  });

  test.each([
    ["never ends", 400, "setInterval(() => {}, 1000)"],
    ["never stops talking", 60_000, 'const more = () => process.stdout.write("x".repeat(65536), more); more()'],
  ])("is given up where ssh-keygen %s", async (_, timeoutMs, script) => {
    await inFolder(async (folder) => {
      const { file } = publicHalf(folder);
      const env = standIn(folder, "ssh-keygen", script);
      const fault = await refusal(() => signWith({ keyFile: file }, message, { env, timeoutMs }));
      expect(fault).toMatchObject({ code: "signing_failed", exit: 13 });
    });
  });
});

describe.runIf(hasSshKeygen)(`beside ssh-keygen${withSshKeygen}`, () => {
  const hasAgent = spawnSync("ssh-agent", ["-?"]).error === undefined;

  test("a key with a passphrase asks nobody where nobody may be asked", async () => {
    await inFolder(async (folder) => {
      const file = join(folder, "locked");
      sshKeygen(["-q", "-t", "ed25519", "-N", "secret words", "-C", "", "-f", file]);
      const fault = await refusal(() => signWith({ keyFile: file }, message));
      expect(fault).toMatchObject({ code: "passphrase_needed", exit: 3 });
      expect(fault.hint).toContain("--key");
    });
  });

  test("a key with a passphrase signs once it is given, and not with a wrong one", async () => {
    await inFolder(async (folder) => {
      const file = join(folder, "locked");
      sshKeygen(["-q", "-t", "ed25519", "-N", "secret words", "-C", "", "-f", file]);
      const say = (words: string) => {
        writeFileSync(join(folder, "ask"), `#!/bin/sh\necho "${words}"\n`, { mode: 0o755 });
        return { ...process.env, SSH_ASKPASS: join(folder, "ask"), SSH_ASKPASS_REQUIRE: "force", DISPLAY: ":0" };
      };
      const signed = await signWith({ keyFile: file }, message, { ask: true, env: say("secret words") });
      expect(signed.kind).toBe("encrypted-file");
      const fault = await refusal(() => signWith({ keyFile: file }, message, { ask: true, env: say("wrong words") }));
      expect(fault).toMatchObject({ code: "signing_failed", exit: 13 });
      expect(existsSync(`${file}.sig`)).toBe(false);
    });
  });

  test("a plain ECDSA key signs through it and is named a plain file", async () => {
    await inFolder(async (folder) => {
      sshKeygen(["-q", "-t", "ecdsa", "-N", "", "-C", "", "-f", join(folder, "key")]);
      const signed = await signWith({ keyFile: join(folder, "key") }, message);
      expect(signed).toMatchObject({ kind: "plain-file", keyType: "ecdsa-sha2-nistp256" });
    });
  });

  test.runIf(hasAgent)("an agent's key signs, and of its keys only those of the roster are offered", async () => {
    await inFolder(async (folder) => {
      const [listed, other] = ["listed", "other"].map((name) => join(folder, name));
      for (const file of [listed!, other!]) sshKeygen(["-q", "-t", "ed25519", "-N", "", "-C", "c", "-f", file]);
      const { blob } = parsePublicLine(readFileSync(`${listed}.pub`, "utf8").trimEnd());
      const roster: RosterEntry[] = [
        { principal: "ana@example.test", keyType: "ssh-ed25519", blob, validAfter: null, validBefore: null, line: 4 },
      ];
      // Files on the way go into the same folder, where the end of the test looks for what is left of them.
      vi.stubEnv("TMPDIR", folder);
      const env = { ...process.env, SSH_AUTH_SOCK: join(folder, "agent") };
      const agent = await startAgent(env.SSH_AUTH_SOCK);
      try {
        expect(await agentCandidates(roster, { env })).toEqual([]);
        spawnSync("ssh-add", ["-q", other!, listed!], { env });
        const offered = await agentCandidates(roster, { env });
        expect(offered).toMatchObject([{ principal: "ana@example.test", kind: "agent", line: 4 }]);
        expect((await signWith({ agentKey: offered[0]! }, message, { env })).kind).toBe("agent");
        expect((await signWith({ keyFile: `${listed}.pub` }, message, { env })).publicKeyBlob.equals(blob)).toBe(true);
      } finally {
        agent.kill();
        await once(agent, "exit");
      }
      expect(await agentCandidates(roster, { env })).toEqual([]);
      expect((await refusal(() => signWith({ agentKey: roster[0]! }, message, { env }))).code).toBe("signing_failed");
      expect(readdirSync(folder).sort()).toEqual(["listed", "listed.pub", "other", "other.pub"]);
    });
  });
});

/** Resolves when the agent has said where it listens. */
async function startAgent(socket: string): Promise<ChildProcess> {
  const agent = spawn("ssh-agent", ["-D", "-a", socket], { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((ready) => agent.stdout.once("data", ready));
  return agent;
}
