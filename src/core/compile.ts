import { ProvisionError } from "../model/errors.ts";
import { isWrite, type PlanObservation, type Step, type WriteStep } from "../model/plan.ts";
import type { Description } from "../model/provider.ts";
import type { Instant } from "../model/reading.ts";
import type { Footing } from "./footing.ts";
import { credentialOf, directionOf, gateOf, isUnproven } from "./gates.ts";
import { aboutOf, bare, type Draft, drafts, type Intent } from "./intent.ts";

/** What the provider says of a step ahead of any call; undefined where it cannot do such a step. */
export type Describe = (step: WriteStep) => Description | undefined;

/** The plan's steps: each with what it expects, its gate, and its way back. */
export function compileSteps(
  intent: Intent,
  footing: Footing,
  readings: readonly PlanObservation[],
  acceptBy: Instant,
  describe: Describe,
): Step[] | ProvisionError {
  const steps: Step[] = [];
  let heldRole = footing.heldRole;
  for (const draft of drafts(intent)) {
    const reading = readings.find(({ about }) => about === aboutOf(draft)) ?? null;
    const step = expecting(bare(draft, steps.length + 1, acceptBy), heldRole ?? intent.landing.id, reading, footing);
    if (!isWrite(step)) {
      // Whoever passes the wait has an account, with the role that the invitation carried.
      heldRole ??= intent.landing.id;
      steps.push(step);
      continue;
    }
    const described = describe(step);
    if (!described) return unable(draft, intent);
    const { catalog, unproven = [] } = intent.tenant;
    const stakes = { catalog, heldRole, unproven };
    const whole: WriteStep = { ...step, ...described };
    whole.direction = directionOf(whole, stakes);
    whole.credential = credentialOf(whole, stakes);
    whole.gate = gateOf(whole, stakes);
    if (alreadyHolds(whole, footing)) Object.assign(whole, INERT);
    else if (isUnproven(whole, stakes)) whole.unproven = true;
    if (whole.kind === "set_role") heldRole = whole.role;
    steps.push(whole);
  }
  return steps;
}

/** What the step was planned against: the value read where there is an account, else what the steps before it leave. */
function expecting(step: Step, role: string, taken: PlanObservation | null, footing: Footing): Step {
  const present = footing.accountId !== null && taken?.reading.kind === "found";
  switch (step.kind) {
    case "set_role":
      return { ...step, expects: { role } };
    case "add_group":
      return { ...step, expects: { member: present } };
    case "assign_license":
      return { ...step, expects: { assigned: present } };
    default:
      return step;
  }
}

/** What can never send has no effects and nothing to take back. */
const INERT = { gate: "none", direction: "neutral", reversibility: "read_only", effects: [], undo: null } as const;

/** What holds already can never send; if it holds no longer when its turn comes, that is a conflict. */
function alreadyHolds(step: WriteStep, footing: Footing): boolean {
  switch (step.kind) {
    case "invite":
      return footing.accountId !== null || footing.pending;
    case "set_role":
      return step.expects.role === step.role;
    case "add_group":
      return step.expects.member;
    case "assign_license":
      return step.expects.assigned;
    default:
      return false;
  }
}

function unable(draft: Draft, { tenant }: Intent): ProvisionError {
  return new ProvisionError(
    "not_supported_by_provider",
    2,
    `The provider ${tenant.provider} of ${tenant.name} cannot ${draft.kind}.`,
    { hint: "Leave it out of the request and do it where the service allows it." },
  );
}
