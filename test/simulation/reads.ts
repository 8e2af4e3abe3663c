import type { Step } from "../../src/model/plan.ts";
import type { Observed, Reading } from "../../src/model/reading.ts";
import { expectedValue, wantedValue } from "./truth.ts";

/** Whether a reading shows what the step wants, told without the machine. */
export function wantedIn(step: Step, reading: Reading<Observed>): boolean {
  if (reading.kind === "unreadable") return false;
  const wanted = wantedValue(step);
  if (reading.kind === "absent") return wanted === null || wanted === "deleted";
  const { value } = reading;
  switch (value.of) {
    case "role":
      return value.role === wanted;
    case "membership":
    case "license":
      return wanted === "yes";
    case "account":
      return value.status === wanted || (wanted === null && value.status === "deleted");
    case "sessions":
    case "credentials":
      return value.count === 0;
    case "invitation":
      if (step.kind === "cancel_invitation") return value.invitation?.status !== "pending";
      return value.invitation !== null || value.account?.status === "active";
    default:
      value satisfies never;
      return false;
  }
}

/** Whether a reading shows what the step was planned against, told without the machine. */
export function expectedIn(step: Step, reading: Reading<Observed>): boolean {
  if (reading.kind === "unreadable") return false;
  const expected = expectedValue(step);
  if (reading.kind === "absent") return expected === null;
  const { value } = reading;
  switch (value.of) {
    case "role":
      return value.role === expected;
    case "membership":
    case "license":
      return expected === "yes";
    case "account":
      return value.status === expected;
    case "sessions":
    case "credentials":
      return value.count > 0;
    case "invitation": {
      const lives = value.account !== null && value.account.status !== "deleted";
      const pending = value.invitation?.status === "pending";
      return step.kind === "invite" ? !lives && !pending : pending;
    }
    default:
      value satisfies never;
      return false;
  }
}
