import type { KeptKeys } from "./keys.ts";
import { expireDue, isDue } from "./meanwhile.ts";
import type { Outcome } from "./outcome.ts";
import { about } from "./outcome.ts";
import type { Saved } from "./saved.ts";
import type { Mint } from "./seed.ts";
import { worldFrom } from "./seed.ts";
import type { RequestRow } from "./views.ts";
import type { World } from "./world.ts";

/** One event of the audit log. `token` is null for what was done past the tenant's own clients. */
export interface AuditEvent {
  id: string;
  at: string;
  token: string | null;
  actor: string;
  action: string;
  target: string;
  idempotency_key: string | null;
  request_id: string | null;
  /** Whether it changed the tenant. Refused and needless requests are recorded, too. */
  applied: boolean;
  status: number;
}
export type AuditNote = Omit<AuditEvent, "id" | "at" | "target" | "applied" | "status">;

export interface StoreOptions {
  seed: unknown;
  lagMs: number;
  saved: Saved | undefined;
  /** Called after each change of anything that is kept. */
  onChange(saved: () => Saved): void;
}

const CLOCK: AuditNote = {
  token: null,
  actor: "clock",
  action: "invitation.expire",
  idempotency_key: null,
  request_id: null,
};
/** The first of each count; the numbers only have to look like those of a tenant that lives. */
const FIRST = { version: 9001, usr: 1938, inv: 8421, ses: 1, cred: 1, request: 1, audit: 1 };

/** The primary copy of one tenant, with enough of its past for replicas that lag. */
export function openStore(options: StoreOptions) {
  const counts: Record<string, number> = { ...FIRST, ...options.saved?.counts };
  let history: { since: number; world: World }[] = [];
  let requests: RequestRow[] = [];
  let audit: AuditEvent[] = [];
  let keys = new Map<string, KeptKeys[string]>();
  /** Changes that are still to come, and requests that are kept waiting. */
  const coming = new Set<NodeJS.Timeout>();
  const waiting = new Set<NodeJS.Timeout>();

  const next = (what: string): number => {
    const value = counts[what] ?? 1;
    counts[what] = value + 1;
    return value;
  };
  const current = (): World => history.at(-1)!.world;
  const mint: Mint = {
    version: () => `"${next("version")}"`,
    id: (kind) => {
      const id = `${kind}_${next(kind)}`;
      const world = history.at(-1)?.world;
      const taken = world !== undefined && [...world.users, ...world.invitations].some((one) => one.id === id);
      return taken ? mint.id(kind) : id;
    },
  };
  const saved = (): Saved => ({
    version: 1,
    counts,
    world: current(),
    keys: Object.fromEntries(keys),
    audit,
    requests,
  });
  const push = (world: World): void => {
    const now = Date.now();
    history.push({ since: now, world });
    // Kept: the last two, what is newer than the lag, and the one that was current when the lag began.
    while (history.length > 2 && history[1]!.since <= now - options.lagMs) history.shift();
  };
  const note = (who: AuditNote, outcome: Outcome): void => {
    audit.push({
      id: `aud_${next("audit")}`,
      at: new Date().toISOString(),
      ...who,
      target: outcome.target,
      applied: outcome.changed,
      status: outcome.answer.status,
    });
  };
  const begin = (): void => {
    history = [{ since: 0, world: worldFrom(options.seed, mint, new Date().toISOString()) }];
  };
  if (options.saved === undefined) begin();
  else {
    history = [{ since: 0, world: options.saved.world }];
    requests = options.saved.requests;
    audit = options.saved.audit;
    keys = new Map(Object.entries(options.saved.keys));
  }

  return {
    mint,
    current,
    saved,
    keys: () => keys,
    requests: () => requests,
    audit: (): readonly AuditEvent[] => audit,
    requestId: () => `req_${next("request")}`,
    /** The world as it was one lag ago. */
    replica(): World {
      const then = Date.now() - options.lagMs;
      return (history.findLast((one) => one.since <= then) ?? history[0]!).world;
    },
    /** The world ahead of the last change, whoever made it. */
    previous: (): World => (history.at(-2) ?? history[0]!).world,
    /** Works the change out on a draft and throws the draft away. */
    rehearse: (run: (draft: World) => Outcome): Outcome => run(structuredClone(current())),
    /** Works the change out on a draft; where it changed something, the draft is the world from now on. */
    commit(run: (draft: World) => Outcome, who: AuditNote): Outcome {
      const draft = structuredClone(current());
      const outcome = run(draft);
      if (outcome.changed) push(draft);
      note(who, outcome);
      options.onChange(saved);
      return outcome;
    },
    /** Closes invitations that ran out; asked ahead of every request. */
    tick(): void {
      const now = new Date().toISOString();
      if (!current().invitations.some((one) => isDue(one, now))) return;
      const draft = structuredClone(current());
      const emails = expireDue(draft, { now, version: mint.version });
      push(draft);
      for (const email of emails) note(CLOCK, about(`invitation:${email.toLowerCase()}`).done(200, {}));
      options.onChange(saved);
    },
    log(row: RequestRow): void {
      requests.push(row);
      options.onChange(saved);
    },
    /** Something kept was changed in place: a row was answered, a key was settled. */
    touched: (): void => options.onChange(saved),
    /** Changes the tenant later; a reset or the end comes before it. */
    later: (ms: number, run: () => void): void => start(coming, ms, run),
    pause: (ms: number): Promise<void> => new Promise((resolve) => start(waiting, ms, resolve)),
    end(): void {
      stop(coming);
      stop(waiting);
    },
    /** Back to the seed. Versions and request ids go on counting, so that none is ever given twice. */
    reset(): void {
      stop(coming);
      Object.assign(counts, FIRST, { version: counts.version, request: counts.request });
      requests = [];
      audit = [];
      keys = new Map();
      begin();
      options.onChange(saved);
    },
  };
}
function start(timers: Set<NodeJS.Timeout>, ms: number, run: () => void): void {
  const timer = setTimeout(() => {
    timers.delete(timer);
    run();
  }, ms);
  timers.add(timer);
}

function stop(timers: Set<NodeJS.Timeout>): void {
  for (const timer of timers) clearTimeout(timer);
  timers.clear();
}

export type Store = ReturnType<typeof openStore>;
