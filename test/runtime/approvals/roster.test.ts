import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ProvisionError } from "../../../src/model/errors.ts";
import { publicLine } from "../../../src/runtime/approvals/pubkey.ts";
import { loadRoster, parseRoster } from "../../../src/runtime/approvals/roster.ts";
import { ecdsa, ed25519, rsa, skEcdsa, skEd25519 } from "./forge.ts";
import { hasSshKeygen, inFolder, sshKeygen, sshKeygenCode, withSshKeygen } from "./openssh.ts";

const [ana, bob] = [ed25519(), ed25519()];
const keyText = publicLine(ana.keyType, ana.blob, "").trim();
const otherKey = publicLine(bob.keyType, bob.blob, "").trim();
const NS = 'namespaces="provision-approval"';
const good = `ana@example.test ${NS} ${keyText}`;

const parse = (text: string) => parseRoster(Buffer.from(text), "approvers");

function refusal(run: () => unknown): ProvisionError {
  try {
    run();
  } catch (fault) {
    if (fault instanceof ProvisionError) return fault;
    throw fault;
  }
  throw new Error("it was accepted");
}

describe("the approvers file", () => {
  test("names people by their keys, with comments and blank lines between", () => {
    const text = `# who may approve\n\n${good} laptop of ana\r\n  # more\n\tbob@example.test\t${NS}\t${otherKey}\n`;
    expect(parse(text)).toEqual([
      {
        principal: "ana@example.test",
        keyType: "ssh-ed25519",
        blob: ana.blob,
        validAfter: null,
        validBefore: null,
        line: 3,
      },
      {
        principal: "bob@example.test",
        keyType: "ssh-ed25519",
        blob: bob.blob,
        validAfter: null,
        validBefore: null,
        line: 5,
      },
    ]);
  });

  test("takes each type of key that may sign", () => {
    const keys = [ana, ecdsa(), skEd25519(), skEcdsa(), rsa()];
    const lines = keys.map((key, i) => `person${i}@example.test ${NS} ${publicLine(key.keyType, key.blob, "")}`);
    expect(parse(lines.join("")).map(({ keyType }) => keyType)).toEqual(keys.map(({ keyType }) => keyType));
  });

  test.each(["", "\n\n", "# nobody yet\n"])("with nobody in it lets nobody approve: %j", (text) => {
    expect(refusal(() => parse(text))).toMatchObject({ code: "roster_empty", exit: 13 });
  });

  test.each([
    ["wildcard_principal", `* ${NS} ${keyText}`],
    ["wildcard_principal", `*@example.test ${NS} ${keyText}`],
    ["wildcard_principal", `an?@example.test ${NS} ${keyText}`],
    ["wildcard_principal", `!eve@example.test ${NS} ${keyText}`],
    ["wildcard_principal", `ana@example.test,bob@example.test ${NS} ${keyText}`],
    ["wildcard_principal", `* ${keyText}`],
    ["namespace_missing", `ana@example.test ${keyText}`],
    ["namespace_missing", `ana@example.test valid-after="20260101Z" ${keyText}`],
    ["namespace_missing", `ana@example.test namespaces="git" ${keyText}`],
    ["namespace_missing", `ana@example.test namespaces="git,provision-approval" ${keyText}`],
    ["namespace_missing", `ana@example.test namespaces="provision-*" ${keyText}`],
    ["namespace_missing", `ana@example.test namespaces="Provision-Approval" ${keyText}`],
    ["namespace_missing", `ana@example.test namespaces="" ${keyText}`],
    ["cert_authority", `ana@example.test cert-authority,${NS} ${keyText}`],
    ["roster_malformed", `ana@example.test namespaces=provision-approval ${keyText}`],
    ["roster_malformed", `ana@example.test ${NS},${NS} ${keyText}`],
    ["roster_malformed", `ana@example.test ${NS}, ${keyText}`],
    ["roster_malformed", `ana@example.test ${NS},touch="no" ${keyText}`],
    ["roster_malformed", `ana@example.test ${NS},valid-before ${keyText}`],
    ["roster_malformed", `ana@example.test ${NS}`],
    ["roster_malformed", "ana@example.test"],
    ["roster_malformed", `ana@example.test ${NS} ssh-ed25519`],
    ["roster_malformed", `ana@example.test ${NS} ${keyText}=`],
    ["roster_malformed", `ana@example.test ${NS} ${keyText.replace("AAAAC3", "AAAA\u002dC3")}`],
    ["roster_malformed", `ana@example.test ${NS} ssh-rsa ${keyText.split(" ")[1]}`],
    ["roster_malformed", `ana@example.test ${NS} ${keyText.slice(0, -1)}`],
    ["roster_malformed", `ana@example.test ${NS} ssh-ed25519-cert-v01@openssh.com ${keyText.split(" ")[1]}`],
    ["roster_malformed", `"ana@example.test" ${NS} ${keyText}`],
    ["roster_malformed", `\u0430na@example.test ${NS} ${keyText}`],
    ["roster_malformed", `ana\u200b@example.test ${NS} ${keyText}`],
    ["roster_malformed", `\ufeffana@example.test ${NS} ${keyText}`],
    ["roster_malformed", `ana@example.test ${NS} ${keyText} \u001b[2J`],
  ])("is refused whole, as %s, at the line %s", (code, line) => {
    const fault = refusal(() => parse(`bob@example.test ${NS} ${otherKey}\n${line}\n`));
    expect(fault).toMatchObject({ code, exit: 13 });
    expect(fault.message).toContain("approvers:2");
    expect(fault.details[0]?.path).toBe("approvers:2");
  });

  test("with one key under two names is refused, whatever the capitals of one name twice", () => {
    const twice = (name: string) => refusal(() => parse(`${good}\n${name} ${NS} ${keyText} again\n`));
    expect(twice("bob@example.test")).toMatchObject({ code: "key_under_two_names", exit: 13 });
    expect(twice("bob@example.test").message).toContain("approvers:2");
    expect(twice("Ana@example.test").code).toBe("duplicate_key");
  });

  test("that is no text is refused", () => {
    expect(refusal(() => parseRoster(Buffer.from([0xff, 0xfe]), "approvers")).code).toBe("roster_malformed");
  });
});

describe("times of validity", () => {
  const bounds = (option: string) => parse(`ana@example.test ${NS},${option} ${keyText}`)[0]!;

  test("in UTC are the same everywhere", () => {
    expect(bounds('valid-after="20260102Z"').validAfter).toBe(Date.UTC(2026, 0, 2));
    expect(bounds('valid-before="202601021530Z"').validBefore).toBe(Date.UTC(2026, 0, 2, 15, 30));
    expect(bounds('valid-before="20260102153059Z"').validBefore).toBe(Date.UTC(2026, 0, 2, 15, 30, 59));
  });

  test("without a Z are local, as ssh-keygen reads them", () => {
    expect(bounds('valid-after="20260702"').validAfter).toBe(new Date(2026, 6, 2).getTime());
    expect(bounds('valid-before="202607021530"').validBefore).toBe(new Date(2026, 6, 2, 15, 30).getTime());
  });

  test.each([
    "2026",
    "20261301Z",
    "20260230Z",
    "2026010224Z",
    "202601022400Z",
    "202601021060Z",
    "20260102z",
    "2026-01-02",
    "",
    "+52w",
    "always",
  ])("written as %j refuse the file", (time) => {
    expect(refusal(() => bounds(`valid-before="${time}"`)).code).toBe("roster_malformed");
  });

  test("that end before they begin refuse the file", () => {
    expect(refusal(() => bounds('valid-after="20260102Z",valid-before="20260101Z"')).code).toBe("roster_malformed");
  });
});

describe("the file on disk", () => {
  const own = process.getuid?.();

  test("is read if it belongs to the reader and others cannot write it", async () => {
    await inFolder((folder) => {
      const path = join(folder, "approvers");
      writeFileSync(path, good, { mode: 0o644 });
      expect(loadRoster(path)).toHaveLength(1);
      for (const mode of [0o666, 0o664, 0o646]) {
        chmodSync(path, mode);
        expect(refusal(() => loadRoster(path))).toMatchObject({ code: "roster_writable", exit: 13 });
      }
      chmodSync(path, 0o600);
      expect(loadRoster(path)).toHaveLength(1);
    });
  });

  test("of another user is refused, unless that is root", async () => {
    await inFolder((folder) => {
      const path = join(folder, "approvers");
      writeFileSync(path, good, { mode: 0o644 });
      if (own !== 0) return expect(refusal(() => loadRoster(path, (own ?? 0) + 1)).code).toBe("roster_owner");
      expect(loadRoster(path, 4242)).toHaveLength(1);
      chownSync(path, 4242, 4242);
      return expect(refusal(() => loadRoster(path))).toMatchObject({ code: "roster_owner", exit: 13 });
    });
  });

  test("that is missing names nobody, and a folder is no such file", async () => {
    await inFolder((folder) => {
      expect(refusal(() => loadRoster(join(folder, "none")))).toMatchObject({ code: "roster_empty", exit: 13 });
      mkdirSync(join(folder, "approvers"));
      expect(refusal(() => loadRoster(join(folder, "approvers"))).code).toBe("roster_unreadable");
    });
  });
});

describe.runIf(hasSshKeygen)(`beside ssh-keygen${withSshKeygen}`, () => {
  test.each<[string, boolean]>([
    ["", true],
    ['valid-after="20200101Z"', true],
    ['valid-before="20200101Z"', false],
    ['valid-after="20990101"', false],
  ])("a key with the bounds %j is valid for both or for neither", async (bounds, valid) => {
    await inFolder((folder) => {
      const [key, allowed, signature] = ["key", "allowed", "signature"].map((name) => join(folder, name));
      sshKeygen(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key!]);
      const options = bounds === "" ? NS : `${NS},${bounds}`;
      const line = `ana@example.test ${options} ${sshKeygen(["-y", "-f", key!])}`;
      writeFileSync(allowed!, line);
      writeFileSync(signature!, sshKeygen(["-Y", "sign", "-f", key!, "-n", "provision-approval", "-"], "hello"));
      const verify = [
        "-Y",
        "verify",
        "-f",
        allowed!,
        "-I",
        "ana@example.test",
        "-n",
        "provision-approval",
        "-s",
        signature!,
      ];
      expect(sshKeygenCode(verify, "hello") === 0).toBe(valid);
      const { validAfter, validBefore } = parse(line)[0]!;
      const now = Date.now();
      expect((validAfter ?? 0) <= now && now <= (validBefore ?? now)).toBe(valid);
    });
  });
});
