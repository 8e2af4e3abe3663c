import { describe, expect, test } from "vitest";
import { foldKeys, GUARDS, type GuardFacts, guardedRoles, guardStep } from "../../src/core/guards.ts";
import type { Effect, WriteStep } from "../../src/model/plan.ts";
import type { Account } from "../../src/model/provider.ts";
import type { Reading } from "../../src/model/reading.ts";
import { acme, catalogOf, compile, holding, intentOf, refusal } from "./acme.ts";

const base = {
  step: 3,
  gate: "plan" as const,
  direction: "raise" as const,
  reversibility: "reversible" as const,
  effects: [] as Effect[],
  undo: null,
  credential: "ordinary" as const,
};
const addGroup: WriteStep = {
  ...base,
  kind: "add_group",
  group: { name: "engineering", id: "grp_77" },
  expects: { member: false },
};
const toRole = (role: string): WriteStep => ({ ...base, kind: "set_role", role, expects: { role: "owner" } });
const account = (changes: Partial<Account>): Account => ({
  id: "usr_1",
  email: null,
  login: null,
  status: "active",
  ...changes,
});
const found = <T>(value: T): Reading<T> => ({ kind: "found", value });

function facts(changes: Partial<GuardFacts> = {}): GuardFacts {
  return {
    tenant: "acme-sandbox",
    subject: { email: "priya@example.test", id: "usr_1938" },
    account: null,
    catalog: catalogOf(),
    fold: foldKeys,
    self: found(account({ email: "bot@example.test" })),
    ownAccounts: [],
    heldRole: "member",
    holders: null,
    ...changes,
  };
}

function code(step: WriteStep, changes: Partial<GuardFacts>): string | null {
  const refused = guardStep(step, facts(changes));
  if (refused) expect(refused).toMatchObject({ exit: 13, message: expect.stringContaining("acme-sandbox") });
  return refused?.code ?? null;
}

test("an ordinary subject passes", () => {
  expect(code(addGroup, {})).toBeNull();
});

describe("a protected subject is not touched", () => {
  const named = (text: string) => ({ catalog: { ...catalogOf(), protected: [text] } });
  test.each<[string, Partial<GuardFacts>]>([
    ["named by address", named("priya@example.test")],
    ["named in another letter case", named("Priya@EXAMPLE.test")],
    ["named by id", named("usr_1938")],
    [
      "named by the login of the account that was read",
      { ...named("Priya-K"), account: { id: "usr_1938", login: "priya-k" } },
    ],
    [
      "named by the address of the account that was read",
      { ...named("root@example.test"), account: { id: "usr_1938", email: "root@example.test" } },
    ],
  ])("%s", (_what, changes) => {
    expect(code(addGroup, changes)).toBe("protected_subject");
  });

  test("and a namesake in another domain is not protected", () => {
    expect(code(addGroup, named("priya@elsewhere.test"))).toBeNull();
  });
});

describe("the account behind a credential is not touched", () => {
  test.each<[string, Partial<GuardFacts>]>([
    ["by its id", { self: found(account({ id: "usr_1938" })) }],
    ["by its address, in another letter case", { self: found(account({ email: "PRIYA@example.test" })) }],
    ["written beside a credential as an address", { ownAccounts: ["priya@example.test"] }],
    ["written beside a credential as an id", { ownAccounts: ["usr_1938"] }],
  ])("%s", (_what, changes) => {
    expect(code(addGroup, changes)).toBe("own_account");
  });

  test("nor is anything where it is not known whose the credential is", () => {
    expect(code(addGroup, { self: { kind: "unreadable", reason: "forbidden", detail: "403" } })).toBe(
      "own_account_unreadable",
    );
  });

  test("a credential without an account of its own is in nobody's way", () => {
    expect(code(addGroup, { self: { kind: "absent", proof: "exact" } })).toBeNull();
  });
});

describe("the last owner stays one", () => {
  const owner = { heldRole: "owner" };
  const alone = { ...owner, holders: found(["usr_1938"]) };

  test.each<[string, WriteStep]>([
    ["a lower role", toRole("admin")],
    ["a role that the catalogue does not know", toRole("auditor")],
    ["suspension", { ...base, kind: "suspend_account", expects: { account: "active" } }],
    ["removal", { ...base, kind: "remove_member", expects: { account: "active" } }],
    ["deletion", { ...base, kind: "delete_account", expects: { account: "active" } }],
  ])("against %s", (_what, step) => {
    expect(code(step, alone)).toBe("last_owner");
    expect(code(step, { ...owner, holders: found(["usr_1938", "usr_2"]) })).toBeNull();
    expect(code(step, { ...owner, holders: found([]) })).toBe("last_owner");
  });

  test("and a count that cannot be read, or was not, counts as the last one", () => {
    const unreadable: Reading<string[]> = { kind: "unreadable", reason: "truncated", detail: "page 2 is missing" };
    for (const holders of [unreadable, null, { kind: "absent", proof: "exact" } as const]) {
      expect(code(toRole("member"), { ...owner, holders })).toBe("owners_unreadable");
    }
  });

  test("the last owner may be given more, and the last administrator may become an owner", () => {
    expect(code(addGroup, alone)).toBeNull();
    expect(code(toRole("owner"), { heldRole: "admin", holders: found(["usr_1938"]) })).toBeNull();
  });

  test("whose role is not elevated needs no count", () => {
    expect(guardedRoles(toRole("guest"), facts({ heldRole: "member" }))).toEqual([]);
    expect(guardedRoles(toRole("guest"), facts({ heldRole: "admin" }))).toEqual(["admin"]);
  });
});

test("every guard has a name of its own and a reason", () => {
  expect(new Set(GUARDS.map((guard) => guard.code)).size).toBe(GUARDS.length);
  for (const { why } of GUARDS) expect(why.length).toBeGreaterThan(20);
});

test("the guards stand at plan too, before any approval is asked", () => {
  const tenant = acme({ catalog: { ...catalogOf(), protected: ["PRIYA@example.test"] } });
  expect(refusal(compile(intentOf({}, tenant)))).toMatchObject({ code: "protected_subject", exit: 13 });
  const own = compile(intentOf(), {}, { ownAccounts: ["priya@example.test"] });
  expect(refusal(own)).toMatchObject({ code: "own_account", exit: 13 });
  const self = found(account({ id: "usr_1938" }));
  expect(refusal(compile(intentOf({ preconditions: {} }), holding("guest"), { self }))).toMatchObject({
    code: "own_account",
  });
});
