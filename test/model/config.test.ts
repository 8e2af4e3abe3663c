import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { actionOf } from "../../src/core/kinds.ts";
import { ACTIONS, Config } from "../../src/model/config.ts";
import { formatDuration, parseDuration } from "../../src/model/duration.ts";
import { findingsOf, pathText } from "../../src/model/findings.ts";
import { nearest } from "../../src/model/nearest.ts";
import { STEP_KINDS } from "../../src/model/plan.ts";

function tenant(change: object = {}): Record<string, unknown> {
  return {
    provider: "entra",
    base_url: "https://graph.example.test/v1.0",
    allowed_email_domains: ["example.test"],
    catalog: "catalog/acme.yaml",
    landing: { role: "guest", groups: [] },
    credentials: { read: { env: "ACME_READ" } },
    ...change,
  };
}

function config(change: object = {}, ofTenant: object = {}): Record<string, unknown> {
  return { version: 1, tenants: { acme: tenant(ofTenant) }, ...change };
}

function findings(input: unknown) {
  const parsed = Config.safeParse(input);
  return parsed.success ? [] : findingsOf(parsed.error, input, Config);
}

const codes = (input: unknown) => findings(input).map(({ path, code }) => [path, code]);

describe("the configuration", () => {
  test("every key of the documented file is taken", () => {
    const full = config(
      {
        policy: "policy.yaml",
        approvers: "approvers",
        revoked: "revoked.krl",
        timing: { request: "15s", settle: "5s", lease: "60s" },
        identities: { "os:ana": "ana@example.test" },
        approvals: { software_keys: "allow" },
        agents: {
          "agent:bot": {
            tenants: ["acme"],
            actions: ["invitation.create", "role.set"],
            limits: { pending: 5, operations_per_day: 50 },
          },
        },
      },
      {
        base_url: { env: "ACME_URL" },
        timing: { settle: "0s" },
        credentials: {
          read: { file: ".provision/read.token", account: "bot@example.test" },
          ordinary: { command: ["/usr/local/bin/acme-token", "ordinary"] },
          privileged: { keyring: "acme" },
        },
      },
    );
    const parsed = Config.parse(full);
    expect(parsed.timing).toEqual({ request: 15_000, settle: 5_000, lease: 60_000 });
    expect(parsed.tenants.acme?.timing).toEqual({ settle: 0 });
  });

  test("what may be left out is filled in with the usual names", () => {
    const parsed = Config.parse(config());
    expect(parsed).toMatchObject({ policy: "policy.yaml", approvers: "approvers", identities: {}, agents: {} });
  });

  test("everything that is wrong is told at once, in the order of the file", () => {
    const input = {
      version: 2,
      tenants: {
        acme: tenant({
          provider: "entra-id",
          base_ulr: "x",
          credentials: { read: { env: "A", file: "b" }, ordinary: { command: ["token"] }, privileged: { vault: "x" } },
          timing: { request: "15 seconds" },
        }),
        "two words": tenant(),
        empty: {},
      },
      agents: { "agent:bot": { tenants: ["acmee"], actions: ["role.sett"] } },
      aprovers: "approvers",
    };
    expect(codes(input)).toEqual([
      ["version", "not_allowed"],
      ["tenants.acme.provider", "not_allowed"],
      ["tenants.acme.credentials.read", "exactly_one"],
      ["tenants.acme.credentials.ordinary.command", "relative_command"],
      ["tenants.acme.credentials.privileged", "exactly_one"],
      ["tenants.acme.credentials.privileged.vault", "unknown_key"],
      ["tenants.acme.base_ulr", "unknown_key"],
      ["tenants.acme.timing.request", "malformed_duration"],
      ['tenants["two words"]', "malformed_key"],
      ['agents["agent:bot"].tenants[0]', "unknown_tenant"],
      ['agents["agent:bot"].actions[0]', "not_allowed"],
      ["aprovers", "unknown_key"],
      ["tenants.empty.provider", "missing"],
      ["tenants.empty.base_url", "missing"],
      ["tenants.empty.allowed_email_domains", "missing"],
      ["tenants.empty.landing", "missing"],
    ]);
  });

  test("an unknown key is told with the nearest known one first", () => {
    const [finding] = findings(config({ aprovers: "x" }));
    expect(finding).toMatchObject({ path: "aprovers", code: "unknown_key", found: "aprovers" });
    expect([finding?.allowed].flat()[0]).toBe("approvers");
    expect(finding?.message).toContain("approvers");
    const [deep] = findings(config({}, { credentials: { red: { env: "A" } } }));
    expect([deep?.allowed].flat()[0]).toBe("read");
  });

  test("a base URL is text or one reference, and nothing else", () => {
    expect(codes(config({}, { base_url: 7 }))).toEqual([["tenants.acme.base_url", "not_allowed"]]);
    expect(codes(config({}, { base_url: { env: "A", file: "b" } }))).toEqual([
      ["tenants.acme.base_url", "exactly_one"],
    ]);
    expect(codes(config({}, { base_url: { environment: "A" } }))).toEqual(
      expect.arrayContaining([["tenants.acme.base_url.environment", "unknown_key"]]),
    );
  });

  test("domains are kept as lower-case A-labels, and a wildcard is none", () => {
    const parsed = Config.parse(config({}, { allowed_email_domains: ["Bücher.Example"] }));
    expect(parsed.tenants.acme?.allowed_email_domains).toEqual(["xn--bcher-kva.example"]);
    expect(findings(config({}, { allowed_email_domains: ["*.example.test"] }))).toHaveLength(1);
    expect(codes(config({}, { allowed_email_domains: ["exаmple.test"] }))).toEqual([
      ["tenants.acme.allowed_email_domains[0]", "mixed_script"],
    ]);
  });

  test("a command is an argument list with an absolute program", () => {
    expect(findings(config({}, { credentials: { read: { command: "/bin/token" } } }))).toHaveLength(1);
    expect(findings(config({}, { credentials: { read: { command: [] } } }))).not.toHaveLength(0);
    expect(findings(config({}, { credentials: { read: { command: ["./token"] } } }))).toHaveLength(1);
  });

  test("agents may be allowed every action that a step can be", () => {
    expect([...ACTIONS].sort()).toEqual(STEP_KINDS.map(actionOf).sort());
  });

  test("a configuration that is no mapping gives one finding at its root", () => {
    expect(codes([])).toEqual([["$", "wrong_type"]]);
  });
});

describe("durations", () => {
  test("each unit reads as its milliseconds", () => {
    expect(["500ms", "5s", "10m", "4h", "7d", "0s"].map(parseDuration)).toEqual([
      500, 5_000, 600_000, 14_400_000, 604_800_000, 0,
    ]);
  });

  test.each(["", "5", "s", "-5s", "1.5s", "05s", "5 s", "5S", "1h30m", "99999999999d", "5s\n"])(
    "%j is no duration",
    (text) => {
      expect(parseDuration(text)).toBeUndefined();
    },
  );

  test("what is written out reads back as the same", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9_999_999_999 }), (ms) => parseDuration(formatDuration(ms)) === ms),
    );
    expect([90_000, 86_400_000, 1_500].map(formatDuration)).toEqual(["90s", "1d", "1500ms"]);
  });
});

test("the nearest names come first and no name comes twice", () => {
  expect(nearest("enginering", ["platform", "engineering", "engine", "engineering"], 2)).toEqual([
    "engineering",
    "engine",
  ]);
});

test("a path says where in a file something stands", () => {
  expect(pathText([])).toBe("$");
  expect(pathText(["a", 0, "b-c", "os:ana"])).toBe('a[0].b-c["os:ana"]');
});
