import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { checkRequest } from "../../src/core/validate.ts";
import { type Finding, ProvisionError } from "../../src/model/errors.ts";
import { parseRequest } from "../../src/model/request.ts";
import { readYaml, readYamlFile } from "../../src/runtime/yaml.ts";
import { acme, catalogOf, joiner } from "../core/acme.ts";

interface Case {
  name: string;
  yaml?: string;
  repeat?: { before: string; text: string; times: number; after: string };
  /** Entries that the catalogue holds beside its own. */
  catalog?: Partial<Record<"roles" | "groups" | "licenses", unknown[]>>;
  expect: { path?: string; code: string }[];
}

const cases = JSON.parse(
  readFileSync(new URL("../../fixtures/requests/malformed.json", import.meta.url), "utf8"),
) as Case[];

function findingsFor({ yaml, repeat, catalog }: Case): Finding[] {
  const text = repeat ? repeat.before + repeat.text.repeat(repeat.times) + repeat.after : (yaml ?? "");
  try {
    const tenant = acme({ catalog: catalogOf(catalog) });
    const checked = checkRequest(readYaml(text, { file: "request.yaml" }), { tenants: [tenant.name], tenant });
    return checked.ok ? [] : checked.findings;
  } catch (error) {
    if (!(error instanceof ProvisionError)) throw error;
    expect(error.exit).toBe(2);
    return [...error.details];
  }
}

test.each(cases)("refused for the stated reasons and no others: $name", (one) => {
  const findings = findingsFor(one);
  for (const expected of one.expect) expect(findings).toContainEqual(expect.objectContaining(expected));
  expect(new Set(findings.map(({ code }) => code))).toEqual(new Set(one.expect.map(({ code }) => code)));
});

test("a request with a great many unknown names gets a finding for each", () => {
  const groups = Array.from({ length: 900 }, (_, at) => `nobody-${at}`);
  const checked = checkRequest(joiner({ groups }), { tenants: ["acme-sandbox"], tenant: acme() });
  expect(checked.ok ? [] : checked.findings).toHaveLength(900);
});

test("an unknown name comes with the three nearest", () => {
  const checked = checkRequest(joiner({ role: "membr" }), { tenants: ["acme-sandbox"], tenant: acme() });
  expect(checked.ok ? [] : checked.findings).toMatchObject([
    { path: "role", allowed: ["member", expect.anything(), expect.anything()] },
  ]);
});

test("a group that cannot be written to comes with what to do instead", () => {
  const checked = checkRequest(joiner({ groups: ["contractors"] }), { tenants: ["acme-sandbox"], tenant: acme() });
  expect(checked.ok ? [] : checked.findings).toMatchObject([
    { code: "group_synced", allowed: "change it in the staff directory" },
  ]);
});

test("every example request is well formed", () => {
  for (const name of ["joiner", "change", "leaver"]) {
    const path = new URL(`../../plans/${name}.yaml`, import.meta.url).pathname;
    expect(parseRequest(readYamlFile(path, "the request")).findings).toEqual([]);
  }
});

test("the domain of the address is normalised and the local part is kept as written", () => {
  const { request } = parseRequest(joiner({ subject: { email: "Priya.K@EXAMPLE.Test" } }));
  expect(request?.subject).toEqual({ email: "Priya.K@example.test" });
});

test("what is not stated has the cautious value: a week, then stop, and nothing more", () => {
  const { request } = parseRequest(
    joiner({ invitation: { send_email: false }, groups: undefined, preconditions: undefined }),
  );
  expect(request).toMatchObject({
    invitation: { accept_within: 604_800_000, on_deadline: "stop" },
    groups: [],
    preconditions: {},
  });
});
