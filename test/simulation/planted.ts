/**
 * A known mistake, as what replaces a piece of the built machine. `about` is the promise, or the row of the reply table,
 * that it breaks.
 */
export interface Planted {
  name: string;
  about: string;
  file: string;
  from: string;
  to: string;
}

const SETTLE = "src/core/settle.js";
const UNDO = "src/core/undo.js";
const APPLY = "src/core/apply.js";
const APPROVAL = "src/core/approval.js";
const WORK = "src/core/work.js";
const EXECUTE = "src/runtime/execute.js";
const OUTCOME = "src/core/outcome.js";

/** Two for each promise that the machine alone keeps, and one for each row of the reply table. */
export const PLANTED: readonly Planted[] = [
  {
    name: "each attempt has a key of its own",
    about: "promise 1",
    file: "src/core/attempt.js",
    from: "key: idempotencyKey(state.planHash, step.step, phase, work.try),",
    to: "key: idempotencyKey(state.planHash, step.step, phase, work.try + work.announced),",
  },
  {
    name: "whoever goes on sends again before it looks",
    about: "promise 1",
    file: SETTLE,
    from: '    if (!seen)\n        return { do: "observe" };',
    to: '    if (!seen && isOpen(work) && work.intent.epoch !== s.epoch)\n        return { do: "send", same: true };\n    if (!seen)\n        return { do: "observe" };',
  },
  {
    name: "an intent waits in memory while it is sent",
    about: "promise 2",
    file: EXECUTE,
    from: 'const CAN_WAIT = ["step.observed",',
    to: 'const CAN_WAIT = ["step.requested", "step.observed",',
  },
  {
    name: "a request is sent that was announced under another lease",
    about: "promise 2",
    file: APPLY,
    from: "if (isOpen(work) && work.intent?.epoch === state.epoch)",
    to: "if (isOpen(work))",
  },
  {
    name: "a success is believed whatever the first read shows",
    about: "promise 3",
    file: SETTLE,
    from: 'if (standing === "wanted")',
    to: 'if (standing === "wanted" || reply.kind === "accepted")',
  },
  {
    name: "what reads otherwise after a success counts as done",
    about: "promise 3",
    file: SETTLE,
    from: 'return conclude("no_effect", null, "no_effect", "accepted, and complete reads show nothing of it");',
    to: 'return conclude("done", "proven", "accepted", "accepted");',
  },
  {
    name: "what was so before is taken back",
    about: "promise 4",
    file: OUTCOME,
    from: "        result,\n        ours: false,\n        before: reading,",
    to: '        result,\n        ours: true,\n        attribution: "proven",\n        compensation: plan.undo,\n        before: reading,',
  },
  {
    name: "what is only presumed ours is taken back",
    about: "promise 4",
    file: UNDO,
    from: 'step.undone === null && receipt.attribution === "proven");\n    const sent',
    to: "step.undone === null);\n    const sent",
  },
  {
    name: "an undo looks at the value and not at who set it",
    about: "promise 5",
    file: UNDO,
    from: "if (version === null || known === null || version === known || state.ownVersions.includes(version))",
    to: "if (version !== undefined)",
  },
  {
    name: "an undo puts its value over whatever is there",
    about: "promise 5",
    file: UNDO,
    from: 'if (place === "other")\n        return "broken";',
    to: 'if (place === "other")\n        return "holds";',
  },
  {
    name: "a step goes ahead over what it did not expect",
    about: "promise 5",
    file: APPLY,
    from: 'if (place === "other" || plan.gate === "none")',
    to: 'if (plan.gate === "none")',
  },
  {
    name: "whoever redeemed the invitation is taken for the invited person",
    about: "promise 5",
    file: "src/core/wait.js",
    from: "foldEmail(by.email) !== foldEmail(email)",
    to: "foldEmail(by.email) === email",
  },
  {
    name: "a stop does not end what was approved before it",
    about: "promise 6",
    file: APPROVAL,
    from: "state.stopped === null || made.seq > state.stopped.seq));",
    to: "state.stopped === null || made.seq > 0));",
  },
  {
    name: "a decision per call counts for any reading",
    about: "promise 6",
    file: APPROVAL,
    from: "if (perCall && !sameReading(",
    to: "if (perCall && made.request === null && !sameReading(",
  },
  {
    name: "a lapsed approval still begins a step",
    about: "promise 6",
    file: APPROVAL,
    from: "if (now >= Date.parse(made.not_after)) {",
    to: "if (now < 0) {",
  },
  {
    name: "a way back that gives authority asks nobody",
    about: "promise 6",
    file: "src/core/kinds.js",
    from: 'return undoDirection(step, undo) === "reduce" ? "plan" : "call";',
    to: 'return "plan";',
  },
  {
    name: "a rule that denies a step is not asked",
    about: "promise 6",
    file: APPLY,
    from: "const denied = context.authority.denied.get(plan.step);",
    to: "const denied = null;",
  },
  {
    name: "what is confirmed is not looked at again by the next run",
    about: "promise 8",
    file: APPLY,
    from: "if (check)\n        return check;\n    return ahead(",
    to: "return ahead(",
  },
  {
    name: "what an overtaken process read steers the one that took over",
    about: "promise 8",
    file: "src/core/fold.js",
    from: "if (entry.epoch === next.epoch)",
    to: "if (entry.epoch > 0)",
  },
  {
    name: "an attempt whose answer nobody saw is forgotten when the next one is announced",
    about: "promise 8",
    file: WORK,
    from: "work.attempts = [...work.attempts, unanswered(work)];",
    to: ";",
  },
  {
    name: "what is to be done later is looked for once",
    about: "accepted, 202",
    file: SETTLE,
    from: "const window = settleWindow(s.limits, reply.asynchronous === true);",
    to: 'if (reply.asynchronous)\n        return conclude("no_effect", null, "no_effect", "");\n    const window = settleWindow(s.limits, false);',
  },
  {
    name: "a timeout is a failure",
    about: "lost, 5xx, 408",
    file: SETTLE,
    from: 'const detail = "the answer was lost, and complete reads show that nothing happened";',
    to: 'const detail = "";\n    if (!s.keys)\n        return conclude("no_effect", null, "lost", detail);',
  },
  {
    name: "one read that finds nothing proves that nothing comes",
    about: "lost, 5xx, 408",
    file: SETTLE,
    from: "if (Date.parse(seen.at) >= at)\n        return null;",
    to: "if (at >= 0)\n        return null;",
  },
  {
    name: "what was never sent is called ours where it is found",
    about: "not sent",
    file: SETTLE,
    from: 'if (reply.kind === "not_sent" && !mayHaveApplied(s))\n        return conclude("already", null, "not_ours"',
    to: 'if (reply.kind === "not_sent" && !mayHaveApplied(s))\n        return conclude("done", "proven", "not_ours"',
  },
  {
    name: "a service that asks for time is asked again by the next run",
    about: "throttled, 423",
    file: "src/core/progress.js",
    from: "return now < until ? until : null;",
    to: "return null;",
  },
  {
    name: "a conflict with what is wanted is called ours",
    about: "409, 412, 428, 404, 410",
    file: SETTLE,
    from: 'const why = "absent before our request and there after it; no record names its author";',
    to: 'const why = "";\n    if (reply.kind === "conflict")\n        return conclude("done", "proven", "presumed", why);',
  },
  {
    name: "a refusal of the values is believed at once",
    about: "400, 422, 3xx",
    file: SETTLE,
    from: 'return proven(s, seen) ?? conclude("rejected", null, reply.code, reply.detail);',
    to: 'return conclude("rejected", null, reply.code, reply.detail);',
  },
  {
    name: "a token that died is a denied step",
    about: "401",
    file: SETTLE,
    from: "if (reply.status === 401) {",
    to: "if (reply.status === 0) {",
  },
  {
    name: "a 403 is tried again",
    about: "403",
    file: SETTLE,
    from: 'return proven(s, seen) ?? conclude("denied", null, reply.code, reply.detail);',
    to: 'return resend(s, "denied", reply.detail, null);',
  },
  {
    name: "a failed read is an absence",
    about: "cannot read",
    file: SETTLE,
    from: 'return conclude("unknown", null, "unreadable", ',
    to: 'return conclude("no_effect", null, "unreadable", ',
  },
  {
    name: "a rollback that is not finished is called finished",
    about: "promise 4",
    file: "src/core/status.js",
    from: '    if (open)\n        return "rollback_pending";',
    to: "",
  },
];
