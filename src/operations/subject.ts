import type { SubjectKey } from "../model/plan.ts";
import type { TenantDesk } from "./desk.ts";

/** What a person is found and held by on one tenant: every known key, folded by the provider's rule. */
export function subjectKeys(tenant: TenantDesk, name: string, subject: SubjectKey): string[] {
  return tenant.provider.fold(subject).map((key) => `${name}\0${key}`);
}
