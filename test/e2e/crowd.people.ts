import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Work } from "./crowd.driver.ts";
import type { Said } from "./kills.command.ts";
import type { Driver } from "./kills.stage.ts";

/** What is asked for somebody, and what becomes of the operation in the crowd. */
interface Wish {
  email: string;
  role: "guest" | "member";
  groups: string[];
  back: boolean;
  /** Run to its end ahead of the crowd, in which it is rolled back. */
  ahead: boolean;
}

/** What somebody has who was there before; null for whoever comes only now. */
interface Person {
  email: string;
  has: { role: "guest" | "member"; engineering: boolean } | null;
  wishes: Wish[];
}

const ENGINEERING = ["engineering"];

/** Seven kinds of people with nine operations, over and over: new ones, old ones, and two that share each a person. */
function personOf(number: number): Person {
  const email = `p${number}@example.test`;
  const wish = (role: Wish["role"], groups: string[], more: Partial<Wish> = {}): Wish => ({
    ...{ email, role, groups, back: false, ahead: false },
    ...more,
  });
  const old = { role: "guest", engineering: false } as const;
  switch (number % 7) {
    case 0:
      return { email, has: null, wishes: [wish("guest", [])] };
    case 1:
      return { email, has: null, wishes: [wish("member", [], { back: true })] };
    case 2:
      return { email, has: null, wishes: [wish("guest", ENGINEERING)] };
    case 3:
      return { email, has: old, wishes: [wish("member", ENGINEERING, { back: true })] };
    case 4:
      return {
        email,
        has: { role: "member", engineering: true },
        wishes: [wish("member", ENGINEERING, { back: true })],
      };
    case 5:
      // The second takes the place of the first.
      return {
        email,
        has: null,
        wishes: [wish("member", []), wish("member", ENGINEERING, { email: `P${number}@Example.test` })],
      };
    default:
      // One is taken back while the other one gives more.
      return {
        email,
        has: old,
        wishes: [wish("member", [], { ahead: true, back: true }), wish("member", ENGINEERING)],
      };
  }
}

/** As many people as it takes for `count` operations. */
export function peopleFor(count: number): Person[] {
  const people: Person[] = [];
  for (let number = 0, planned = 0; planned < count; number++) {
    const person = personOf(number);
    people.push(person);
    planned += person.wishes.length;
  }
  return people;
}

/** The tenant as it is before anybody comes, with people who have nothing to do with any of it. */
export function seedOf(people: readonly Person[]) {
  const old = people.flatMap(({ email, has }) => (has ? [{ email, ...has }] : []));
  const bystanders = [
    { email: "owner@acme-sandbox.test", role: "owner" },
    { email: "mira@acme-sandbox.test", role: "member" },
  ];
  return {
    users: [...bystanders, ...old.map(({ email, role }) => ({ email, role }))],
    groups: [
      {
        id: "grp_77",
        name: "engineering",
        members: ["mira@acme-sandbox.test", ...old.filter(({ engineering }) => engineering).map(({ email }) => email)],
      },
    ],
  };
}

/** Plans and approves everything; what is to be done ahead is done. */
export async function prepare(driver: Driver, dir: string, people: readonly Person[]): Promise<Work[]> {
  const first = await begin(
    driver,
    dir,
    people.map(({ wishes }) => wishes[0] as Wish),
  );
  const ahead = first.filter(({ ahead }) => ahead);
  for (const { code } of await driver.perform(
    dir,
    ahead.map(({ op }) => ["run", op, "--json"]),
  ))
    expect(code).toBe(0);
  const second = await begin(
    driver,
    dir,
    people.flatMap(({ wishes }) => wishes.slice(1)),
  );
  return [...first, ...second];
}

async function begin(driver: Driver, dir: string, wishes: readonly Wish[]): Promise<(Work & { ahead: boolean })[]> {
  const paths = wishes.map((wish, at) => {
    const path = `plans/${wish.email.split("@")[0]}-${at}.yaml`;
    writeFileSync(join(dir, path), yamlOf(wish));
    return path;
  });
  const planned = await driver.perform(
    dir,
    paths.map((path) => ["plan", path, "--json"]),
  );
  const ops = planned.map(({ code, stdout }: Said) => {
    expect(code, stdout).toBe(0);
    return (JSON.parse(stdout) as { operation_id: string }).operation_id;
  });
  for (const { code } of await driver.perform(
    dir,
    ops.map((op) => ["approve", op, "--yes", "--json"]),
  ))
    expect(code).toBe(0);
  return wishes.map(({ email, back, ahead }, at) => ({ op: ops[at] as string, email, back, ahead }));
}

function yamlOf({ email, role, groups }: Wish): string {
  return `schema: provision.request/v1
kind: joiner
tenant: acme-sandbox
subject: { email: ${email} }
invitation: { send_email: false, accept_within: 7d, on_deadline: stop }
role: ${role}
groups: [${groups.join(", ")}]
ticket: HR-1
reason: One of many
`;
}
