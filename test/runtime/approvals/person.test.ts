import { describe, expect, test } from "vitest";
import { foldName, isAgent, isSamePerson, isSubject } from "../../../src/runtime/approvals/person.ts";

describe("two names of one person", () => {
  test.each([
    ["Ana@Example.test", "ana@example.test"],
    ["ana@b\u00fccher.example", "ana@xn--bcher-kva.example"],
    ["quac\u212a@example.test", "quack@example.test"],
    ["jose\u0301@example.test", "jos\u00e9@example.test"],
    ["\uff41na@example.test", "ana@example.test"],
  ])("%s and %s fold to one spelling", (one, other) => {
    expect(foldName(one)).toBe(foldName(other));
    expect(isSamePerson(one, other, {})).toBe(true);
  });

  test("are known as such by the identities, also through another account", () => {
    const identities = { "os:ana": "github:ana-dev", "github:ana-dev": "Ana@example.test" };
    expect(isSamePerson("os:ana", "ana@example.test", identities)).toBe(true);
    expect(isSamePerson("os:ana", "bob@example.test", identities)).toBe(false);
  });

  test("are two people where nothing says otherwise", () => {
    expect(isSamePerson("os:ana", "ana@example.test", {})).toBe(false);
    expect(isSamePerson("os:ana", "os:anna", {})).toBe(false);
  });

  test("that lead to each other end the search", () => {
    expect(isSamePerson("a", "b", { a: "b", b: "a" })).toBe(false);
    expect(isSamePerson("a", "c", { a: "b", b: "b" })).toBe(false);
  });
});

describe("the subject", () => {
  const identities = { "os:ana": "ana@example.test", "github:ana-dev": "ana@example.test" };

  test.each(["ana@example.test", "ANA@example.test", "email:ana@example.test", "ana-dev", "login:ana-dev", "os:ana"])(
    "known as %s is the approver",
    (key) => {
      expect(isSubject("ana@example.test", ["someone", key], identities)).toBe(true);
    },
  );

  test.each(["priya@example.test", "usr_1", "ana", "dev"])("known as %s is not the approver", (key) => {
    expect(isSubject("ana@example.test", [key], identities)).toBe(false);
  });
});

test("an agent is one under any name that leads to it", () => {
  expect(isAgent("agent:bot", {})).toBe(true);
  expect(isAgent("Agent:Bot", {})).toBe(true);
  expect(isAgent("bot@example.test", { "bot@example.test": "agent:bot" })).toBe(true);
  expect(isAgent("ana@example.test", { "os:ana": "ana@example.test" })).toBe(false);
});
