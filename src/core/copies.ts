import type { OperationState, StepState, Work } from "./state.ts";

// Written out, since it is done at every entry: spreading an object of so many fields takes ten times as long.

export function copyState(state: OperationState): OperationState {
  return {
    plan: state.plan,
    planHash: state.planHash,
    seq: state.seq,
    asOf: state.asOf,
    epoch: state.epoch,
    subjectId: state.subjectId,
    boundAt: state.boundAt,
    steps: state.steps,
    decisions: state.decisions,
    words: state.words,
    requests: state.requests,
    denied: state.denied,
    stopped: state.stopped,
    rollback: state.rollback,
    paused: state.paused,
    askedToWait: state.askedToWait,
    interrupted: state.interrupted,
    ended: state.ended,
    ownVersions: state.ownVersions,
  };
}

export function copyStep(step: StepState): StepState {
  return {
    plan: step.plan,
    apply: step.apply,
    undo: step.undo,
    receipt: step.receipt,
    receiptEpoch: step.receiptEpoch,
    receiptAt: step.receiptAt,
    reopened: step.reopened,
    undone: step.undone,
  };
}

export function copyWork(work: Work): Work {
  return {
    try: work.try,
    before: work.before,
    intent: work.intent,
    doubtSince: work.doubtSince,
    announced: work.announced,
    closed: work.closed,
    attempts: work.attempts,
    seen: work.seen,
    authorship: work.authorship,
    unreadable: work.unreadable,
    startedAt: work.startedAt,
    verified: work.verified,
  };
}
