import { userInfo } from "node:os";
import type { Requester } from "../model/plan.ts";

/** Whether nobody is there to ask: a job of a CI service, by the variable that all of them set. */
export function inCi(env: NodeJS.ProcessEnv): boolean {
  return env.CI !== undefined && env.CI !== "" && env.CI !== "0" && env.CI !== "false";
}

/**
 * Who asks. In a terminal the operating system names the person. A CI job runs under an account that many share, and
 * the variables that tell who pushed are claims: shown, and used for nothing.
 */
export function requesterOf(env: NodeJS.ProcessEnv): Requester {
  const id = `os:${userInfo().username}`;
  if (!inCi(env)) return { id, via: "cli", verified: true, claimed: null };
  const claimed = env.GITHUB_ACTOR ?? env.GITLAB_USER_LOGIN ?? null;
  return { id, via: "ci", verified: false, claimed };
}
