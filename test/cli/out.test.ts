import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { asProvisionError, errorDocument, errorText, openOut } from "../../src/cli/out.ts";
import { invalid, ProvisionError, refused } from "../../src/model/errors.ts";

function opened(options: Partial<{ json: boolean; quiet: boolean; verbose: boolean }> = {}) {
  const streams = { stdout: new PassThrough(), stderr: new PassThrough() };
  const out = openOut(streams, { json: false, quiet: false, verbose: false, ...options });
  const read = (stream: PassThrough) => stream.read()?.toString("utf8") ?? "";
  return { out, stdout: () => read(streams.stdout), stderr: () => read(streams.stderr) };
}

describe("the answer", () => {
  test("goes to stdout as text, ended by one line feed", () => {
    const { out, stdout, stderr } = opened();
    out.answer({ a: 1 }, () => "one");
    out.answer({ a: 1 }, () => "two\n");
    out.answer({ a: 1 }, () => "");
    expect([stdout(), stderr()]).toEqual(["one\ntwo\n", ""]);
  });

  test("is exactly one document where JSON was asked for, and its text is never made", () => {
    const { out, stdout } = opened({ json: true });
    out.answer({ a: [1], b: null }, () => {
      throw new Error("nobody asked for text");
    });
    expect(JSON.parse(stdout())).toEqual({ a: [1], b: null });
  });

  test("comes whole, however large it is", () => {
    const { out, stdout } = opened({ json: true });
    const large = { text: "x".repeat(500_000) };
    out.answer(large, () => "");
    expect(JSON.parse(stdout())).toEqual(large);
  });
});

test("progress and messages go to stderr, unless quiet; details only where they were asked for", () => {
  const plain = opened();
  plain.out.say("working");
  plain.out.detail("inside");
  expect([plain.stdout(), plain.stderr()]).toEqual(["", "working\n"]);
  const quiet = opened({ quiet: true });
  quiet.out.say("working");
  expect(quiet.stderr()).toBe("");
  const verbose = opened({ verbose: true });
  verbose.out.detail("inside");
  expect(verbose.stderr()).toBe("inside\n");
});

const found = invalid(
  "invalid_request",
  "The request has 2 faults.",
  [
    { path: "role", code: "unknown_name", found: "amdin", allowed: ["admin", "member"] },
    { path: "", code: "not_a_map", message: "It is a list." },
  ],
  "provision schema request",
);

describe("an error", () => {
  test("as a document has code, message, hint and details, each with path, code, found and allowed", () => {
    expect(errorDocument(found)).toEqual({
      code: "invalid_request",
      message: "The request has 2 faults.",
      hint: "provision schema request",
      details: [
        { path: "role", code: "unknown_name", found: "amdin", allowed: ["admin", "member"] },
        { path: "", code: "not_a_map", found: null, allowed: null, message: "It is a list." },
      ],
    });
    expect(errorDocument(refused("lapsed", "The approval has lapsed."))).toEqual({
      ...{ code: "lapsed", message: "The approval has lapsed.", hint: null, details: [] },
    });
  });

  test("as text says what happened, each finding on a line, and what to do alone on a line", () => {
    expect(errorText(found).split("\n")).toEqual([
      "Error: The request has 2 faults.",
      "  role: unknown_name, found amdin, allowed: admin, member",
      "  (the whole): not_a_map. It is a list.",
      "",
      "  provision schema request",
      "",
      "  (invalid_request)",
    ]);
  });

  test("shows foreign text for what it is, and not all of an endless one", () => {
    const hostile = invalid("bad", "a\u001b[2Jb\u202e", [
      { path: "x\u0007", code: "bad", found: `\u200b${"y".repeat(5000)}` },
    ]);
    const text = errorText(hostile);
    expect(text).toContain("Error: a<U+001B>[2Jb<U+202E>");
    expect(text).toContain("x<U+0007>: bad, found <U+200B>y");
    expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(Math.max(...text.split("\n").map(({ length }) => length))).toBeLessThan(200);
  });

  test("that nobody foresaw is a fault of ours, exit 1, and one of ours stays what it is", () => {
    expect(asProvisionError(new TypeError("x is undefined"))).toMatchObject({
      ...{ code: "internal", exit: 1, message: expect.stringContaining("x is undefined") },
    });
    expect(asProvisionError("thrown text")).toMatchObject({ exit: 1, message: expect.stringContaining("thrown text") });
    const ours = new ProvisionError("busy", 11, "The journal is busy.");
    expect(asProvisionError(ours)).toBe(ours);
  });
});
