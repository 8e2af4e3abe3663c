import { gateNow, isElevated, isUnproven } from "../core/gates.ts";
import { guardedRoles, guardStep } from "../core/guards.ts";
import type { WriteStep } from "../model/plan.ts";
import type { Account, CredentialClass, Session, Subject } from "../model/provider.ts";
import type { Reading } from "../model/reading.ts";
import type { Guard } from "../runtime/perform.ts";
import type { TenantDesk } from "./desk.ts";
import type { OpenedHere } from "./open.ts";
import type { Sessions } from "./sessions.ts";

/** The class that a write uses: the privileged one only for what needs it, and only where the tenant has it. */
export function classFor(step: WriteStep, hasPrivileged: boolean): CredentialClass {
  return step.credential === "privileged" && hasPrivileged ? "privileged" : "ordinary";
}

const UNREADABLE = "unreadable";

/** The guards of the plan, asked again before a write: with the credential in hand, and with what is read then. */
export function guardFor({ catalog, provider, resolved }: TenantDesk, { plan }: OpenedHere, sessions: Sessions): Guard {
  const selves = new Map<CredentialClass, Reading<Account>>();
  return async (step, subject, writer) => {
    const credential = classFor(step, sessions.credentials.has("privileged"));
    const self = await selfOf(selves, credential, writer);
    const reader = sessions.open("read", () => {});
    const heldRole = await roleAtStake(step, subject, reader);
    const roles = guardedRoles(step, { catalog, heldRole });
    const own = sessions.credentials.accountOf(credential);
    const refusal = guardStep(step, {
      tenant: resolved.name,
      subject: { ...plan.subject, ...subject },
      account: null,
      catalog,
      fold: provider.fold,
      self,
      ownAccounts: own === undefined ? [] : [own],
      heldRole: heldRole !== null && isElevated(catalog, heldRole) ? heldRole : null,
      holders: roles.length === 0 ? null : await reader.holders(roles),
    });
    const unreadable = self.kind === "unreadable" && { unreadable: self.reason };
    if (refusal) return { code: refusal.code, detail: refusal.message, ...unreadable };
    const stakes = { catalog, heldRole, unproven: provider.unproven ?? [] };
    if (step.gate !== "plan" || gateNow(step, stakes) === "plan") return null;
    if (heldRole === UNREADABLE) return { code: "role_unreadable", detail: "the role of the account cannot be read" };
    return { rises: isUnproven(step, stakes) ? "unproven" : "elevated" };
  };
}

/** Whose a credential is does not change while it is in hand; only a failed reading is made again. */
async function selfOf(
  known: Map<CredentialClass, Reading<Account>>,
  credential: CredentialClass,
  writer: Session,
): Promise<Reading<Account>> {
  const self = known.get(credential) ?? (await writer.self());
  if (self.kind !== "unreadable") known.set(credential, self);
  return self;
}

/**
 * The role that the account holds, where the step could take it away or is decided by it: named by the step itself, or
 * read. Nobody holds one before there is an account, and what only takes away is decided with the plan, whoever it is.
 */
async function roleAtStake(step: WriteStep, subject: Subject, reader: Session): Promise<string | null> {
  if (step.kind === "set_role") return step.expects.role;
  if (step.kind === "invite" || step.kind === "create_account" || step.kind === "cancel_invitation") return null;
  const losesAll = ["suspend_account", "remove_member", "delete_account"].includes(step.kind);
  if (!losesAll && (step.gate !== "plan" || step.direction === "reduce")) return null;
  const role = { ...step, kind: "set_role" as const, role: "", expects: { role: "" } };
  const reading = await reader.action("set_role")?.observe(role, subject);
  // A role that cannot be read may be the last owner's; an unknown one counts as elevated.
  if (reading === undefined || reading.kind === "unreadable") return UNREADABLE;
  return reading.kind === "found" && reading.value.of === "role" ? reading.value.role : null;
}
