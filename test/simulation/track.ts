import type { Observed, Reading } from "../../src/model/reading.ts";
import type { Claim } from "./invariants.ts";

/** What is known of one direction of one step, from the outside. */
export interface Track {
  try: number;
  key: string | null;
  intents: number[];
  /** Attempts up to this number were proven to have come to nothing. */
  closed: number;
  sent: number[];
  /** When the newest request left, and what was read of its target until then. */
  sentAt: number;
  looked: { version: number; at: number } | null;
  changes: number;
  /** How often somebody else had decided anything when we first changed something. */
  rivals: number;
  lied: boolean;
  forbidden: boolean;
  /** Until when the service asked for time in this run, in milliseconds. */
  askedFor: number;
  /** The same two as the journal told them when the newest attempt was announced. */
  known: { forbidden: boolean; askedFor: number };
  /** Sequence of the newest intent or reply, and the newest reading after it. */
  movedAt: number;
  seen: Reading<Observed> | null;
  /** The guard refused the newest reading. */
  refused: boolean;
  verifiedIn: number;
  /** What must hold of the newest intent once it is sent; one that never is does no harm. */
  claims: Claim[];
}

export function newTrack(): Track {
  return {
    try: 0,
    key: null,
    intents: [],
    closed: 0,
    sent: [],
    sentAt: 0,
    looked: null,
    changes: 0,
    rivals: 0,
    lied: false,
    forbidden: false,
    askedFor: 0,
    known: { forbidden: false, askedFor: 0 },
    movedAt: 0,
    seen: null,
    refused: false,
    verifiedIn: 0,
    claims: [],
  };
}
