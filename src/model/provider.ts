import type { Effect, Requester, Reversibility, Step, StepKind, SubjectKey, Undo, WriteStep } from "./plan.ts";
import type { Authorship, Instant, Observed, Reading, Version } from "./reading.ts";
import type { Reply } from "./reply.ts";

export type CredentialClass = "read" | "ordinary" | "privileged";

/** Facts about a service, each with its source in the provider's README. Durations in milliseconds. */
export interface Capabilities {
  /** How long the service remembers an idempotency key; null: it knows none. */
  idempotencyKeyLifetimeMs: number | null;
  /** `if_match`: honoured, and tried. `none`: read just before and compare. */
  guard: "if_match" | "none";
  /** Mail of an invitation can be suppressed; false: it always mails. */
  mail: "suppressible" | "always";
  /** Whether the tenant's own record can name our request as the author of a change. */
  authorship: boolean;
  /** Steps that refer to an account need its id; false where an address will do. */
  stepKinds: readonly StepKind[];
}

/** A request of a provider. `route` is the URL's template; it is what logs and fingerprints may show. */
export interface HttpRequest {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  url: string;
  route: string;
  headers?: Record<string, string>;
  body?: unknown;
}

/** What came of one request. Never thrown, so that a caller cannot forget that it may have happened. */
export type HttpResult =
  | {
      kind: "answer";
      status: number;
      /** Lower-case names. */
      headers: Record<string, string>;
      /** Parsed JSON; undefined where the body was empty. */
      body: unknown;
      /** The body was cut off, or no JSON. */
      malformed: boolean;
      /** When to come back, from `Retry-After` in any of its forms; null where none came or it made no sense. */
      retryAt: Instant | null;
    }
  | { kind: "not_sent"; detail: string }
  | { kind: "lost"; detail: string; status?: number };

/** What a provider may do while planning and reading: `fetch` sends GET, and a POST to a route declared read-only. */
export interface ReadIo {
  fetch(request: HttpRequest): Promise<HttpResult>;
  /** Now, for comparisons with the service's dates. */
  now(): Instant;
}

/** What a provider gets for a write. Exactly one request with a method other than GET may be sent in one `send`. */
export interface WriteIo extends ReadIo {
  readonly writes: true;
}

/** One tenant as the configuration names it, with references resolved. */
export interface Tenant {
  name: string;
  baseUrl: string;
  /** Ids from the catalogue that a provider may need to read by name. */
  landing: { role: string; groups: string[] };
}

/** The subject as far as it is known now; `id` once bound. */
export interface Subject extends SubjectKey {
  id?: string;
}

export interface Account {
  id: string;
  email: string | null;
  login: string | null;
  status: "active" | "suspended" | "deleted";
}

export interface RemoteGroup {
  id: string;
  name: string;
  membership: "direct" | "nested" | "dynamic" | "synced";
}

/** What can be said of a step ahead of any call. */
export interface Description {
  reversibility: Reversibility;
  effects: Effect[];
  undo: Undo | null;
}

export interface Action {
  /** Reads the exact direct state of the step's target. */
  observe(step: Step, subject: Subject): Promise<Reading<Observed>>;
  /** Makes the one remote change. `ifVersion` only where the provider's guard is `if_match`. */
  send(step: WriteStep, subject: Subject, options: { key: string; ifVersion?: Version }): Promise<Reply>;
  /** Pure. */
  describe(step: Pick<WriteStep, "kind"> & Partial<WriteStep>): Description;
  /** Whether the tenant's record names the request with this key as the author of what is there now. */
  authorship?(step: WriteStep, subject: Subject, key: string): Promise<Reading<Authorship>>;
}

/** One tenant, opened with one credential. Nothing here throws for anything that the service says. */
export interface Session {
  /** Finds the account by exactly one documented attribute; two candidates are `unreadable`. */
  findSubject(by: SubjectKey): Promise<Reading<Account>>;
  /** Undefined: the provider cannot; the plan is refused with what to do instead. */
  action(kind: StepKind): Action | undefined;
  /** The account behind the credential in hand; absent where it belongs to none (an app). */
  self(): Promise<Reading<Account>>;
  /** How many active people hold one of these roles, for the guard on the last of them. */
  holders(roles: string[]): Promise<Reading<string[]>>;
  listGroups(): Promise<Reading<RemoteGroup[]>>;
  listRoles(): Promise<Reading<{ id: string; name: string }[]>>;
}

export interface Provider {
  name: string;
  capabilities: Capabilities;
  /** Routes that read by POST; everything else that is not GET counts as a write. */
  readOnlyRoutes?: readonly string[];
  /** The vendor's own addresses; another base URL needs trust. Empty: only what the configuration names. */
  vendorHosts: readonly string[];
  /** How the provider folds an address or login for comparison. */
  fold(key: SubjectKey): string[];
  /** Steps that the conformance suite does not show to hold for these very sources; each asks a person, per call. */
  unproven?: readonly StepKind[];
  open(tenant: Tenant, io: ReadIo | WriteIo): Session;
}

export type ProviderLoader = (name: string) => Promise<Provider | undefined>;
export type { Requester };
