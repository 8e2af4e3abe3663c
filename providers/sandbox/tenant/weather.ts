import type { Fault, FaultKind, Struck } from "./faults.ts";
import { matches } from "./faults.ts";
import type { Answer } from "./outcome.ts";
import { answer, problem } from "./outcome.ts";
import type { World } from "./world.ts";

/** All that a write or a read has to bear, gathered from the faults that match, in the order set. */
export interface Weather {
  delayMs: number;
  /** Answered instead, and nothing is done. The one set last wins. */
  instead: Answer | null;
  lost: "before" | "after" | null;
  lateMs: number | null;
  asyncMs: number | null;
  unguarded: boolean;
  withoutEffect: boolean;
  errorThough: boolean;
  body: "cut" | "garbled" | null;
  /** A read sees the state before the last change. */
  stale: boolean;
  /** Reads to come that will see the world as it is ahead of this write. */
  staleReads: number;
  /** Pages to come that will be short. */
  shortPages: number;
}

/** The faults set on one tenant. They live as long as its process. */
export function faultBox() {
  let faults: Fault[] = [];
  let lastId = 0;
  /** Pictures that reads still have to see, from `stale_reads` on a named action. */
  let pictures: { world: World; left: number }[] = [];
  let shortPages = 0;

  /** Counts a match; true where the fault strikes. */
  const strikes = (fault: Fault): boolean => {
    if (fault.after > 0) {
      fault.after -= 1;
      return false;
    }
    fault.times -= 1;
    faults = faults.filter((one) => one.times > 0);
    return true;
  };

  return {
    set(fault: Omit<Fault, "id">): Fault {
      lastId += 1;
      // Without an action it counts reads; N reads, times over.
      const counted = fault.kind === "stale_reads" && fault.action === null;
      const made = { ...fault, id: lastId, times: counted ? fault.times * fault.number : fault.times };
      if (made.times > 0) faults.push(made);
      return made;
    },
    list: (): Fault[] => faults.map((fault) => ({ ...fault })),
    clear(): void {
      faults = [];
      pictures = [];
      shortPages = 0;
    },
    /** Gathers what strikes this request, and counts it. Short pages are asked for apart, once the page is known. */
    weather(request: Struck): Weather {
      const weather = calm();
      for (const fault of [...faults]) {
        if (fault.kind === "truncate_page" && fault.action === null) continue;
        if (matches(fault, request) && strikes(fault)) apply(fault, weather);
      }
      shortPages += weather.shortPages;
      return weather;
    },
    /** A write that leaves stale reads behind it. */
    remember(world: World, reads: number): void {
      if (reads > 0) pictures.push({ world, left: reads });
    },
    /** The picture that the next read has to see, if there is one. */
    picture(): World | undefined {
      const first = pictures[0];
      if (first === undefined) return undefined;
      first.left -= 1;
      if (first.left === 0) pictures.shift();
      return first.world;
    },
    /** Whether this page, which has items, is to be short. */
    shortens(request: Struck): boolean {
      if (shortPages > 0) {
        shortPages -= 1;
        return true;
      }
      const short = faults.filter(
        (fault) => fault.kind === "truncate_page" && matches(fault, { ...request, page: true }),
      );
      return short.map(strikes).includes(true);
    },
  };
}
export type FaultBox = ReturnType<typeof faultBox>;

export function calm(): Weather {
  return {
    delayMs: 0,
    instead: null,
    lost: null,
    lateMs: null,
    asyncMs: null,
    unguarded: false,
    withoutEffect: false,
    errorThough: false,
    body: null,
    stale: false,
    staleReads: 0,
    shortPages: 0,
  };
}

function apply(fault: Fault, weather: Weather): void {
  const effects: Record<FaultKind, () => Partial<Weather>> = {
    lost_before_commit: () => ({ lost: "before" }),
    lost_after_commit: () => ({ lost: weather.lost ?? "after" }),
    commit_late: () => ({ lateMs: fault.number }),
    status: () => ({ instead: problem(fault.number, `fault_${fault.number}`, `A fault answers ${fault.number}.`) }),
    throttle: () => ({
      instead: problem(429, "too_many_requests", "Too many requests.", { "retry-after": `${fault.number}` }),
    }),
    throttle_by_text: () => ({
      instead: problem(403, "forbidden", "You have exceeded a secondary rate limit. Please wait before you try again."),
    }),
    delay: () => ({ delayMs: weather.delayMs + fault.number }),
    async: () => ({ asyncMs: fault.number }),
    stale_reads: () => (fault.action === null ? { stale: true } : { staleReads: weather.staleReads + fault.number }),
    truncate_page: () => ({ shortPages: weather.shortPages + 1 }),
    ignore_if_match: () => ({ unguarded: true }),
    success_without_effect: () => ({ withoutEffect: true }),
    error_though_applied: () => ({ errorThough: true }),
    masked_403_as_404: () => ({ instead: problem(404, "not_found", "Not found.") }),
    reset_mid_body: () => ({ body: "cut" }),
    malformed_body: () => ({ body: "garbled" }),
  };
  Object.assign(weather, effects[fault.kind]());
}

export const FAILED_THOUGH_APPLIED: Answer = answer(400, {
  code: "invalid_request",
  message: "The request could not be applied.",
});
