/** A place between journal and tenant where a process can be lost. */
export interface Boundary {
  /** Counts from 1 within one process. */
  n: number;
  /**
   * `append:before`: all is inserted and not committed. `append:after`: committed, the high-water mark not yet raised.
   * `request:before`: nothing has left. `request:sent`: all has left. `request:answered`: the answer has come, or is
   * known to be lost, and nobody has read it.
   */
  kind: "append:before" | "append:after" | "request:before" | "request:sent" | "request:answered";
  /** The entries' kinds, or method and path. */
  what: string;
  /** The last entry that the process has made durable; null where it has made none. */
  seq: number | null;
  /** The entries of the transaction that the boundary belongs to. */
  seqs: number[];
}

export const KINDS: readonly Boundary["kind"][] = [
  "append:before",
  "append:after",
  "request:before",
  "request:sent",
  "request:answered",
];
