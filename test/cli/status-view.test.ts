import { describe, expect, test } from "vitest";
import { statusNotes, statusTable } from "../../src/cli/views/status.ts";
import type { Reply } from "../../src/model/reply.ts";
import {
  absent,
  forbidden,
  group,
  invited,
  joiner,
  lost,
  member,
  notInvited,
  ok,
  planOf,
  type Read,
  role,
  roleIs,
} from "../core/build.ts";
import { HOLDER, running, Story } from "../core/story.ts";

/** The story up to the denied step. */
function denied(): Story {
  const story = running(joiner());
  const sent = new Set<number>();
  const shown: Record<number, Read[]> = {
    1: [notInvited, invited("pending")],
    3: [roleIs("guest"), roleIs("member", '"9012"')],
    4: [absent, member()],
  };
  const tenant = {
    read: ({ step }: { step: number }) =>
      step === 2 || (step === 1 && sent.has(3))
        ? invited("accepted")
        : (shown[step]?.[sent.has(step) ? 1 : 0] ?? absent),
    reply: ({ step }: { step: number }): Reply => {
      sent.add(step);
      return step === 5 ? forbidden : step === 1 ? lost : ok;
    },
    author: () => ({ kind: "found" as const, value: "ours" as const }),
  };
  story.facts = { authorship: true };
  story.play(tenant);
  story.approve().lease();
  story.play(tenant);
  return story;
}

/** The notes as words: where lines break depends on the terminal. */
const notes = (story: Story, holder: typeof HOLDER | null = null) =>
  statusNotes(story.document(holder)).replaceAll(/\s+/g, " ");

describe("the table of the steps", () => {
  test("of the story is the promised one, to the letter", () => {
    expect(statusTable(denied().document())).toBe(
      [
        "STEP  ACTION                     RESULT            UNDO",
        "1     invitation.create          accepted          unavailable",
        "2     acceptance.wait            observed          n/a",
        "3     role.set                   changed           ready: guest",
        "4     group.add engineering      added             ready",
        "5     group.add on-call-readers  denied            none",
        "STATE partial_failure",
      ].join("\n"),
    );
  });

  test("before anything happened says so", () => {
    expect(statusTable(new Story(planOf([role(), group()])).document())).toBe(
      [
        "STEP  ACTION                     RESULT            UNDO",
        "1     role.set                   -                 -",
        "2     group.add engineering      -                 -",
        "STATE awaiting_approval",
      ].join("\n"),
    );
  });

  test("grows with the longest name, and cuts none", () => {
    const name = "platform-engineering-production-readers-emea";
    const lines = statusTable(new Story(planOf([role(), group(name, "grp_9")])).document()).split("\n");
    expect(lines).toEqual([
      "STEP  ACTION                                                  RESULT            UNDO",
      "1     role.set                                                -                 -",
      `2     group.add ${name}  -                 -`,
      "STATE awaiting_approval",
    ]);
  });

  test("shows a name that would act on the screen for what it is", () => {
    const text = statusTable(new Story(planOf([group("a\u001b[2Jb\u202e", "grp_9")])).document());
    expect(text).toContain("group.add a<U+001B>[2Jb<U+202E>  -");
  });
});

describe("the notes below it", () => {
  test("say what the subject has, why it stands, who asked and approved, and what can follow", () => {
    const text = notes(denied());
    expect(text).toContain("prov_2026_07_24_k3v9q2mz on acme-production, as of 2026-07-24T10:00:");
    expect(text).toContain("priya@example.test, usr_1938");
    expect(text).toContain("has now account active, role member, group engineering");
    expect(text).toContain("in flight nothing");
    expect(text).toMatch(/stands at step 5: forbidden, by the tenant, request req_\d+ the token may not do this/);
    expect(text).toContain("asked by os:kim (cli, verified)");
    expect(text).toContain("approved steps 1, 3, 4 (apply) by ana@example.test, until 2026-07-25T10:00:00.000Z");
    expect(text).toContain("way back step 4: group.remove engineering way back step 3: role.set guest");
    expect(text).toContain("the account usr_1938 exists");
    expect(text).toContain("provision run k3v9q2mz --retry-step 5");
    expect(text).toContain("provision rollback k3v9q2mz");
  });

  test("say of a subject without an account that none is bound, and of nothing seen that nothing is known", () => {
    const text = notes(new Story(joiner()));
    expect(text).toContain("priya@example.test, not bound to an account yet");
    expect(text).toContain("has now nothing that this operation has seen");
  });

  test("say who runs it, and which write is out", () => {
    const story = running(joiner()).saw(1, notInvited);
    story.decide();
    expect(notes(story, HOLDER)).toContain(
      "in flight step 1 (invitation.create) since 2026-07-24T10:00:00.000Z, by process 4711 of kim on ops-1",
    );
    expect(notes(story)).toContain("the process that sent it is gone");
  });

  test("say what was taken back", () => {
    const story = denied().lease().rollback();
    const back = new Set<number>();
    story.play({
      read: ({ step }) =>
        step === 3
          ? roleIs(back.has(3) ? "guest" : "member", back.has(3) ? '"9013"' : '"9012"')
          : back.has(4)
            ? absent
            : member(),
      reply: ({ step }) => {
        back.add(step);
        return ok;
      },
    });
    expect(story.name()).toBe("rolled_back");
    expect(notes(story)).toContain("step 4: group.remove engineering, undone");
    expect(notes(story)).toContain("has now account active, role guest");
    expect(notes(story)).not.toContain("group engineering,");
  });

  test("fit into the width that they are given", () => {
    const lines = statusNotes(denied().document(), 60).split("\n");
    const commands = lines.filter((line) => line.startsWith("  provision"));
    expect(
      Math.max(...lines.filter((line) => !commands.includes(line)).map(({ length }) => length)),
    ).toBeLessThanOrEqual(60);
    expect(commands.length).toBe(2);
  });
});
