import { expect, test } from "vitest";
import { checkRequest, requestError } from "../../src/core/validate.ts";
import { acme, catalogOf, joiner } from "./acme.ts";

test("a provider that always mails cannot be asked not to", () => {
  const tenant = acme();
  const capabilities = { ...tenant.capabilities, mail: "always" as const };
  const checked = checkRequest(joiner(), { tenants: [tenant.name], tenant: { ...tenant, capabilities } });
  expect(checked).toMatchObject({ ok: false, findings: [{ path: "invitation.send_email", code: "always_mails" }] });
});

test("what a provider cannot do is refused before anything is read", () => {
  const tenant = acme();
  const capabilities = { ...tenant.capabilities, stepKinds: ["invite", "wait_for_acceptance", "set_role"] as const };
  const checked = checkRequest(joiner(), { tenants: [tenant.name], tenant: { ...tenant, capabilities } });
  expect(checked).toMatchObject({ ok: false, findings: [{ path: "groups", code: "not_supported_by_provider" }] });
});

test("a landing role that is elevated or unknown, and landing groups, are refused with the place in the configuration", () => {
  const codes = (landing: { role: string; groups: string[] }) => {
    const tenant = acme({ landing });
    const checked = checkRequest(joiner(), { tenants: [tenant.name], tenant });
    return checked.ok ? [] : checked.findings.map(({ path, code }) => `${path} ${code}`);
  };
  expect(codes({ role: "admin", groups: [] })).toEqual(["tenants.acme-sandbox.landing.role landing_elevated"]);
  expect(codes({ role: "gust", groups: [] })).toEqual(["tenants.acme-sandbox.landing.role unknown_role"]);
  expect(codes({ role: "guest", groups: ["everyone"] })).toEqual([
    "tenants.acme-sandbox.landing.groups landing_groups_not_supported",
  ]);
});

test("the error of a refused request carries every finding and exits 2", () => {
  const checked = checkRequest(joiner({ role: "x", groups: ["y"] }), { tenants: ["acme-sandbox"], tenant: acme() });
  const error = requestError(checked.ok ? [] : checked.findings);
  expect(error).toMatchObject({ code: "request_refused", exit: 2, details: [{ path: "role" }, { path: "groups[0]" }] });
  const later = requestError([{ path: "kind", code: "kind_not_supported", message: "m" }]);
  expect(later).toMatchObject({ code: "kind_not_supported", exit: 2, hint: expect.stringContaining("joiner") });
});

test("a catalogue in which a name stands twice is refused, whether or not the request uses it", () => {
  const twice = [1, 2].map((at) => ({ name: "twin", id: `t${at}`, membership: "direct" }));
  const tenant = acme({ catalog: catalogOf({ groups: twice }) });
  const checked = checkRequest(joiner(), { tenants: [tenant.name], tenant });
  expect(checked).toMatchObject({ ok: false, findings: [{ path: "catalog.groups[8].name", code: "doubled_name" }] });
});
