import type { Catalog } from "../../src/model/catalog.ts";
import type { SubjectKey, WriteStep } from "../../src/model/plan.ts";
import type { CredentialClass, Provider, Tenant } from "../../src/model/provider.ts";

/** A service that a provider can be tried against: it misbehaves as it is told to, and tells the truth when asked. */
export interface Double {
  provider: Provider;
  catalog: Catalog;
  tenant: Pick<Tenant, "name" | "landing">;
  /** A world of its own in which the step is due, with subject and targets named as they may be, or as badly as they may. */
  start(kind: WriteStep["kind"], dress: "plain" | "hostile"): Promise<World>;
  /** The fact of the service for which this fault cannot befall the step, or its way back; undefined: it can. */
  impossible(fault: string, kind: WriteStep["kind"], way: Way): string | undefined;
}

export type Way = "apply" | "undo";

/** What somebody else does to the target: what the step wants, a third thing, or away and back again. */
export type Edit = "same" | "other" | "touch";

/** What the target is called at the start, when the step is done, and when that was taken back. */
export interface Targets {
  start: string;
  wanted: string;
  restored: string;
  /** A third thing past which the step has nothing left to do, either: what was accepted cannot be cancelled. */
  also?: string;
  /** How another reads that somebody put in the place of ours once ours was gone: nothing is left to take back. */
  another?: string;
}

export interface World {
  baseUrl: string;
  tokens: Record<CredentialClass, string>;
  subject: SubjectKey;
  /** What it says of gate, direction, credential and way back is worked out anew. */
  step: WriteStep;
  words: Targets;
  /**
   * Sets a fault by the name that the sandbox gives it (`status:500`).
   * @param on - the writes of the step, or of its way back; or every request that it makes sense for
   */
  fault(kind: string, on: Way | "all", times: number): Promise<void>;
  /** How many requests faults and other people have struck so far. */
  struck(): Promise<number>;
  clear(): Promise<void>;
  /** Another person's edit of the target, from how the step, or its way back, sees it. Nothing where it cannot be. */
  rival(edit: Edit, way: Way): Promise<void>;
  truth(): Promise<Truth>;
  close(): Promise<void>;
}

/** The service's own account of what happened. */
export interface Truth {
  /** Every write that came in: what it carried to be known again, and whether that very request changed anything. */
  writes: { key: string | null; applied: boolean }[];
  target: string;
  /** All else that can be changed. */
  rest: string;
}
