import type { Plan, Step } from "../../src/model/plan.ts";
import { STEPS, type StepName } from "./steps.ts";
import { expectedValue, SUBJECT, type Thing, type Truth, targetOf, thing } from "./truth.ts";

export const ACCOUNT = "usr_1";

const NEW: readonly StepName[] = ["invite", "create"];
const GIVES: readonly StepName[] = ["role", "elevate", "group", "sensitive", "license", "ungroup", "unlicense"];
const LEAVES: readonly StepName[] = [
  "suspend",
  "sessions",
  "credentials",
  "lower",
  "ungroup",
  "unlicense",
  "remove",
  "delete",
];
/** Two steps of which no plan holds both. */
const APART: readonly (readonly [StepName, StepName])[] = [
  ["role", "elevate"],
  ["suspend", "remove"],
  ["remove", "delete"],
];

/** All plans of this many steps: joiners and changes in the order of the planner, and leavers in theirs. */
export function plansOf(length: number): StepName[][] {
  if (length === 1)
    return (Object.keys(STEPS) as StepName[]).filter((name) => !name.startsWith("wait")).map((n) => [n]);
  const joins = [["invite", "wait"], ["invite", "wait_or_cancel"], ["create"], ["restore"], []] as StepName[][];
  const gives = joins.flatMap((begin) =>
    begin.length > length ? [] : inOrder(GIVES, length - begin.length).map((rest) => [...begin, ...rest]),
  );
  const leaves = inOrder(LEAVES, length).filter((names) => names.some((name) => !GIVES.includes(name)));
  return [...gives, ...leaves];
}

function inOrder(names: readonly StepName[], length: number): StepName[][] {
  if (length === 0) return [[]];
  return names.flatMap((first, i) =>
    inOrder(names.slice(i + 1), length - 1)
      .filter((rest) => !rest.some((name) => APART.some(([a, b]) => a === first && b === name)))
      .map((rest) => [first, ...rest]),
  );
}

/** A plan of these steps, as the planner would freeze it. A leaver's steps do not wait for each other. */
export function planOf(
  names: readonly StepName[],
  id = "prov_2026_07_24_k3v9q2mz",
  absent = false,
  account = ACCOUNT,
): Plan {
  const joins = names.some((name) => NEW.includes(name) || name === "cancel");
  const leaver = names.length > 1 && names.every((name) => LEAVES.includes(name));
  const steps = names.map((name, i): Step => {
    const step: Step = STEPS[name](i + 1);
    const held = name === "delete" && names.includes("suspend") ? { expects: { account: "suspended" as const } } : {};
    return { ...step, ...held, ...(leaver && { independent: true }) } as Step;
  });
  return {
    schema: "provision.plan/v1",
    operation_id: id,
    salt: "s",
    created_at: "2026-07-24T10:00:00.000Z",
    tenant: "acme",
    provider: "sandbox",
    kind: leaver ? "leaver" : "change",
    requester: { id: "os:kim", via: "cli", verified: true, claimed: null },
    subject: joins ? { email: SUBJECT } : { email: SUBJECT, id: account },
    ticket: null,
    reason: null,
    intent_hash: "sha256:i",
    steps,
    preconditions: absent ? { account_absent: true } : {},
    observations: [],
    catalog_hash: "sha256:c",
    policy_hash: "sha256:p",
  };
}

/** The world as the plan expects it. */
export function worldFor(plan: Plan): Truth {
  const kinds = plan.steps.map((step) => step.kind);
  const absent = kinds.includes("invite") || kinds.includes("create_account");
  const invited = kinds.includes("cancel_invitation");
  const truth: Record<string, Thing> = {};
  let version = 1;
  const put = (name: string, value: string | null, more: Partial<Thing> = {}) => {
    truth[name] ??= thing(value, { version: version++, ...more });
  };
  if (invited) put("invitation", "pending", { id: "inv_1", role: "guest" });
  if (!absent && !invited) {
    const status = kinds.includes("restore_account") ? "suspended" : "active";
    put("account", status, { id: ACCOUNT, email: SUBJECT });
  }
  for (const step of plan.steps) {
    const target = targetOf(step);
    if (target === "account" || target === "invitation" || (target === "role" && absent)) continue;
    put(target, expectedValue(step));
  }
  if (!absent && !invited) put("role", "guest");
  return truth;
}
