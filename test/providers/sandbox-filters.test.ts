import { expect, test } from "vitest";
import { provider } from "../../providers/sandbox/index.ts";
import type { ReadIo, Session } from "../../src/model/provider.ts";
import { actionOf, type Bench, bench, GUEST, ioOf, PRIYA, steps } from "./sandbox-io.ts";

/** A session with a service that leaves one filter out of every query, and so lists more than was asked for. */
function heedless({ tenant }: Bench, filter: string): Session {
  const io = ioOf(tenant.tokens.read);
  const reads: ReadIo = {
    now: io.now,
    fetch(request) {
      const url = new URL(request.url);
      url.searchParams.delete(filter);
      return io.fetch({ ...request, url: url.href });
    },
  };
  return provider.open({ name: "acme-sandbox", baseUrl: tenant.url, landing: { role: "guest", groups: [] } }, reads);
}

const ignored = { kind: "unreadable", reason: "filter_ignored", detail: expect.any(String) };

test("a list of accounts by address in which others stand proves nothing, neither presence nor absence", async () => {
  const session = heedless(await bench(), "email");
  expect(await session.findSubject({ email: PRIYA })).toEqual(ignored);
  expect(await session.findSubject({ email: "lena@acme-sandbox.test" })).toEqual(ignored);
  const created = await actionOf(session, "create_account").observe(steps.account("create_account"), { email: PRIYA });
  expect(created).toEqual(ignored);
});

test("neither does an invitation that is somebody else's, nor accounts of others beside it", async () => {
  const there = await bench();
  const observe = () => actionOf(heedless(there, "email"), "invite").observe(steps.invite(), { email: PRIYA });
  expect(await observe()).toEqual(ignored);
  await there.call("ordinary", "POST /invitations", { ...GUEST, email: "ana@example.test" });
  expect(await observe()).toEqual(ignored);
});

test("what others were granted says nothing of who granted this, and holders of other roles are not counted", async () => {
  const there = await bench();
  await there.call("ordinary", "PUT /groups/grp_77/members/usr_1005");
  const add = steps.group("add_group", "grp_81");
  const author = actionOf(heedless(there, "target"), "add_group").authorship;
  expect(await author?.(add, { id: "usr_1005" }, "key")).toEqual(ignored);
  expect(await heedless(there, "role").holders(["owner"])).toEqual(ignored);
});
