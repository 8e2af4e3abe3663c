import type { Authority } from "../../src/core/approval.ts";
import type { OperationState } from "../../src/core/state.ts";
import type { Plan } from "../../src/model/plan.ts";
import type { Fingerprint } from "./fingerprint.ts";
import type { World } from "./world.ts";

/** What can be seen of an operation and its world by whoever looks on. */
export interface Stage {
  readonly plan: Plan;
  readonly world: World;
  readonly print: Fingerprint;
  readonly state: OperationState;
  /** Milliseconds since the epoch. */
  readonly clock: number;
  /** The epoch of whoever holds the lease. */
  readonly epoch: number;
  readonly rules: Authority;
}
