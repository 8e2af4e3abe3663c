import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, describe, expect, test } from "vitest";
import { ProvisionError } from "../../src/model/errors.ts";
import { readBounded, readStream, writeAtomically } from "../../src/runtime/files.ts";
import { readYaml, readYamlFile, withoutSchema } from "../../src/runtime/yaml.ts";

const folder = mkdtempSync(join(tmpdir(), "provision-yaml-"));
afterAll(() => rmSync(folder, { recursive: true }));

function refusal(act: () => unknown): ProvisionError {
  try {
    act();
  } catch (error) {
    if (error instanceof ProvisionError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

const refused = (text: string) => refusal(() => readYaml(text, { file: "request.yaml" }));

describe("YAML that people write", () => {
  test("becomes plain JSON by the core schema of YAML 1.2", () => {
    const text = 'a: 1\nb: yes\nc: 2026-07-24\nd: ~\ne: [1.5, "x", true]\nf: 0o17\n';
    expect(readYaml(text, { file: "f" })).toEqual({
      a: 1,
      b: "yes",
      c: "2026-07-24",
      d: null,
      e: [1.5, "x", true],
      f: 15,
    });
  });

  test("may repeat a little by alias, and the copies are separate", () => {
    const read = readYaml("a: &x [1]\nb: *x\n", { file: "f" });
    expect(read).toEqual({ a: [1], b: [1] });
    expect(read.a).not.toBe(read.b);
  });

  test.each([
    ["a: [1", "not_yaml", "request.yaml:1:"],
    ["a:\n\tb: 1", "not_yaml", "request.yaml:2:1"],
    ["a: *nowhere", "yaml_aliases", "request.yaml"],
    ["a: &a [*a]", "yaml_aliases", "request.yaml"],
    ["a: 1\nb: 2\na: 3\n", "duplicate_key", "request.yaml:3:1"],
    ["1: a\n'1': b\n", "duplicate_key", "request.yaml:2:1"],
    ["a: 1\n---\nb: 2\n", "yaml_documents", "request.yaml:2:1"],
    ["a: !secret x\n", "yaml_tag", "request.yaml:1:4"],
    ["a: !!js/function 'x'\n", "yaml_tag", "request.yaml:1:4"],
    ["a: !!binary aGk=\n", "yaml_tag", "request.yaml:1:4"],
    ["a: !!timestamp 2026-01-01\n", "yaml_tag", "request.yaml:1:4"],
    ["a: .nan\n", "yaml_number", "request.yaml:1:4"],
    ["a: -.inf\n", "yaml_number", "request.yaml:1:4"],
    ["a: 9007199254740993\n", "yaml_number", "request.yaml:1:4"],
    ["? [a]\n: b\n", "not_yaml", "request.yaml:1:3"],
    ["__proto__: {a: 1}\n", "yaml_key", "request.yaml:1:1"],
    ["%YAML 1.1\n---\na: yes\n", "not_yaml", "request.yaml:1:1"],
    ["", "not_a_map", "request.yaml"],
    ["hello", "not_a_map", "request.yaml"],
    ["- a", "not_a_map", "request.yaml"],
  ])("%j is refused with its place", (text, code, place) => {
    const error = refused(text);
    expect([error.code, error.exit]).toEqual([code, 2]);
    expect(error.details[0]?.code).toBe(code);
    expect(error.details[0]?.path).toContain(place);
  });

  test("everything that is wrong is told at once", () => {
    const { details } = refused("a: 1\na: 2\nb: !x 1\nc: .inf\nd: !y 2\n");
    expect(details.map(({ code, path }) => `${code} ${path}`)).toEqual([
      "duplicate_key request.yaml:2:1",
      "yaml_tag request.yaml:3:4",
      "yaml_tag request.yaml:5:4",
      "yaml_number request.yaml:4:4",
    ]);
  });

  test("an alias bomb is refused", () => {
    const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"];
    for (let i = 1; i < 9; i++)
      lines.push(
        `a${i}: &a${i} [${Array(9)
          .fill(`*a${i - 1}`)
          .join(", ")}]`,
      );
    expect(refused(lines.join("\n")).code).toBe("yaml_aliases");
  });

  test.each([
    ["flow lists", `a: ${"[".repeat(5_000)}`],
    ["closed flow lists", `a: ${"[".repeat(5_000)}${"]".repeat(5_000)}`],
    ["flow mappings", "{a: ".repeat(5_000)],
    ["block lists", "- ".repeat(5_000)],
    ["explicit keys", "? ".repeat(5_000)],
    ["block mappings", Array.from({ length: 300 }, (_, i) => `${" ".repeat(i)}a:`).join("\n")],
  ])("%s nested without end are refused before anything recurses into them", (_what, text) => {
    expect(refused(text).code).toBe("yaml_depth");
  });

  test("the size counts in bytes and is looked at before the text", () => {
    expect(readYaml(`a: ${"x".repeat(999_997)}`, { file: "f" }).a).toHaveLength(999_997);
    expect(refused(`a: ${"x".repeat(999_998)}`).code).toBe("too_large");
    expect(refused(`[${"é".repeat(500_000)}`).code).toBe("too_large");
  });

  test("a schema header of the right kind is taken off, another is refused", () => {
    const value = { schema: "provision.config/v1", version: 1 };
    expect(withoutSchema(value, "provision.config/v1", "f")).toEqual({ version: 1 });
    expect(withoutSchema({ version: 1 }, "provision.config/v1", "f")).toEqual({ version: 1 });
    expect(refusal(() => withoutSchema(value, "provision.request/v1", "f")).code).toBe("wrong_schema");
  });
});

describe("files", () => {
  test("what is missing, a folder, too large or not UTF-8 is refused with its own code", () => {
    writeFileSync(join(folder, "large"), "x".repeat(1_000_001));
    writeFileSync(join(folder, "latin1"), Buffer.from([0x61, 0x3a, 0x20, 0xe9]));
    const codes = ["nothing", ".", "large", "latin1"].map(
      (name) => refusal(() => readYamlFile(join(folder, name), "it")).code,
    );
    expect(codes).toEqual(["file_not_found", "not_a_file", "too_large", "not_utf8"]);
  });

  test("no more is read than one byte beyond the limit", () => {
    expect(refusal(() => readBounded("/dev/zero", 10, "it")).code).toBe("not_a_file");
    writeFileSync(join(folder, "ten"), "0123456789");
    expect(readBounded(join(folder, "ten"), 10, "it").bytes.toString()).toBe("0123456789");
    expect(refusal(() => readBounded(join(folder, "ten"), 9, "it")).code).toBe("too_large");
  });

  test("a stream is left as soon as it has given too much", async () => {
    let given = 0;
    const endless = Readable.from(
      (function* () {
        for (;;) {
          given += 1;
          yield Buffer.alloc(1_000);
        }
      })(),
    );
    await expect(readStream(endless, 10_000, "standard input")).rejects.toMatchObject({ code: "too_large", exit: 2 });
    expect(given).toBeLessThan(50);
    expect((await readStream(Readable.from(["ab", "c"]), 3, "standard input")).toString()).toBe("abc");
  });

  test("a file is replaced as a whole and gets the very mode that was asked for", () => {
    const path = join(folder, "state");
    writeFileSync(path, "old", { mode: 0o644 });
    writeAtomically(path, "new", 0o600);
    expect(readBounded(path, 10, "it").bytes.toString()).toBe("new");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    writeAtomically(path, "for all", 0o666);
    expect(statSync(path).mode & 0o777).toBe(0o666);
  });
});
