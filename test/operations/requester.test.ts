import { userInfo } from "node:os";
import { expect, test } from "vitest";
import { inCi, requesterOf } from "../../src/operations/requester.ts";

test("in a terminal the operating system names who asks, and that counts as verified", () => {
  expect(requesterOf({})).toEqual({ id: `os:${userInfo().username}`, via: "cli", verified: true, claimed: null });
});

test("a variable that names another person changes nothing in a terminal", () => {
  const env = { USER: "root", LOGNAME: "root", SUDO_USER: "ana", GITHUB_ACTOR: "ana" };
  expect(requesterOf(env)).toEqual(requesterOf({}));
});

test("a CI job is not verified, and who it says pushed is a claim", () => {
  const id = `os:${userInfo().username}`;
  expect(requesterOf({ CI: "true" })).toEqual({ id, via: "ci", verified: false, claimed: null });
  expect(requesterOf({ CI: "true", GITHUB_ACTOR: "ana" })).toEqual({ id, via: "ci", verified: false, claimed: "ana" });
  expect(requesterOf({ CI: "1", GITLAB_USER_LOGIN: "bob" })).toEqual({
    id,
    via: "ci",
    verified: false,
    claimed: "bob",
  });
});

test.each([
  ["true", true],
  ["1", true],
  ["yes", true],
  ["", false],
  ["0", false],
  ["false", false],
  [undefined, false],
])("CI=%s is a CI job: %s", (value, expected) => {
  expect(inCi(value === undefined ? {} : { CI: value })).toBe(expected);
});
