/** What one finding of a refused input says: where, what is wrong, what stood there, what may stand there. */
export interface Finding {
  path: string;
  code: string;
  found?: unknown;
  allowed?: unknown;
  message?: string;
}

export type ExitCode = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 130;

/**
 * The one error that leaves the house: what happened and to what (`message`), what to do (`hint`), and the exit code
 * that the command ends with. `code` is stable; tools branch on it.
 */
export class ProvisionError extends Error {
  readonly code: string;
  readonly exit: ExitCode;
  readonly hint: string | undefined;
  readonly details: readonly Finding[];

  constructor(
    code: string,
    exit: ExitCode,
    message: string,
    more: { hint?: string; details?: readonly Finding[] } = {},
  ) {
    super(message);
    this.name = "ProvisionError";
    this.code = code;
    this.exit = exit;
    this.hint = more.hint;
    this.details = more.details ?? [];
  }
}

/** Usage, configuration or request is wrong; nothing was sent. Exit 2. */
export function invalid(
  code: string,
  message: string,
  details: readonly Finding[] = [],
  hint?: string,
): ProvisionError {
  return new ProvisionError(code, 2, message, hint === undefined ? { details } : { details, hint });
}

/** Refused by rule: policy, approver, key, window, protected subject. Exit 13. */
export function refused(code: string, message: string, hint?: string): ProvisionError {
  return new ProvisionError(code, 13, message, hint === undefined ? {} : { hint });
}

/** Something stored does not verify: bytes, hash, chain, signature. Exit 9. */
export function unverified(code: string, message: string, hint?: string): ProvisionError {
  return new ProvisionError(code, 9, message, hint === undefined ? {} : { hint });
}

/** A fault of ours. Exit 1. */
export function bug(message: string): ProvisionError {
  return new ProvisionError("internal", 1, message, { hint: "This is a bug in provision. Nothing more was sent." });
}
