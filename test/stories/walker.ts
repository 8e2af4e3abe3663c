import { spawnSync } from "node:child_process";
import { userInfo } from "node:os";
import Sqlite from "better-sqlite3";
import type { Desk } from "../e2e/desk.ts";

/**
 * A story is a text: lines that begin with `#` tell, a line that begins with `$` is a command, and behind the rule
 * stand its exit code and its exact screen, standard error marked by `!`.
 */
interface Passage {
  told: string[];
  command: string | null;
}

const RULE = "----";
/** What a command sends there is left out of the story. */
const HIDDEN = / (2?)> \/dev\/null$/;

export function passages(story: string): Passage[] {
  const found: Passage[] = [];
  let told: string[] = [];
  for (const line of story.split("\n")) {
    if (line.startsWith("# ")) told.push(line);
    if (!line.startsWith("$ ")) continue;
    found.push({ told, command: line.slice(2) });
    told = [];
  }
  return told.length === 0 ? found : [...found, { told, command: null }];
}

/** Walks through a story on a desk and gives it as it went this time. */
export async function walk(story: string, desk: Desk): Promise<string> {
  const names: Names = { op: null };
  const told: string[] = [];
  for (const passage of passages(story)) {
    const shown = passage.command === null ? [] : await perform(passage.command, desk, names);
    told.push([...passage.told, ...shown].join("\n"));
  }
  return `${told.join("\n\n")}\n`;
}

interface Names {
  /** The operation that was planned last; `<op>` in a command means it. */
  op: string | null;
}

async function perform(command: string, desk: Desk, names: Names): Promise<string[]> {
  const hidden = HIDDEN.exec(command)?.[1];
  const plain = command.replace(HIDDEN, "");
  const { code, stdout, stderr } = await execute(plain.replaceAll("<op>", names.op ?? ""), desk);
  names.op = /^OPERATION (\S+)$/m.exec(stdout)?.[1] ?? names.op;
  const screen = [
    ...(hidden === "" ? [] : lines(stdout)),
    ...(hidden === "2" ? [] : lines(stderr).map((line) => `! ${line}`.trimEnd())),
  ].map((line) => steady(line, desk, names));
  const ambiguous = screen.find((line) => /^[#$] /.test(line));
  if (ambiguous !== undefined)
    throw new Error(`a story cannot show a line that begins like one of its own: ${ambiguous}`);
  return [`$ ${command}`, RULE, `exit ${code}`, ...screen];
}

function lines(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

interface Shown {
  code: number | null;
  stdout: string;
  stderr: string;
}

async function execute(command: string, desk: Desk): Promise<Shown> {
  if (command === "journal") return { code: 0, stdout: journal(desk), stderr: "" };
  const [program, ...args] = command.split(" ");
  if (program === "provision") return desk.quick(...args);
  const { status, stdout, stderr } = spawnSync("sh", ["-c", command], { cwd: desk.dir, encoding: "utf8" });
  return { code: status, stdout, stderr };
}

/** What the journal's clear headers tell, in order; readings of one step that follow each other count as one. */
function journal(desk: Desk): string {
  const db = new Sqlite(desk.file(".provision/journal.db"), { readonly: true });
  const rows = db.prepare("SELECT step, kind FROM entry ORDER BY seq").all() as { step: number; kind: string }[];
  db.close();
  const told = rows.map(({ step, kind }) => (step === 0 ? kind : `${kind} ${step}`));
  return told.filter((line, at) => !line.startsWith("step.observed") || line !== told[at - 1]).join("\n");
}

/** What is another in every run gets a name that stays. */
function steady(line: string, desk: Desk, { op }: Names): string {
  const known: [string | RegExp, string][] = [
    ...(op === null
      ? []
      : ([
          [op, "<op>"],
          [op.slice(-8), "<id>"],
        ] as [string, string][])),
    [desk.dir, "<folder>"],
    [`os:${userInfo().username}`, "os:<user>"],
    [/sha256:[0-9a-f]{64}/g, "<hash>"],
    [/\b[0-9a-f]{8}-[0-9a-f]{8}\b/g, "<digest>"],
    [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "<time>"],
    [/http:\/\/127\.0\.0\.1:\d+/g, "<url>"],
    [/\breq_\d+/g, "<request>"],
    [/\busr_\d+/g, "<account>"],
    [/\binv_\d+/g, "<invitation>"],
    [/\bapr_[0-9a-f]{20}\b/g, "<approval>"],
    [/"\d{4,}"/g, "<version>"],
    [/head [A-Za-z0-9+/]{43}=/g, "head <root>"],
    [/\b\d+ (entries|not anchored yet)/g, "<n> $1"],
    [/\((?:UND_ERR|ECONN)\w*\)/g, "(<cause>)"],
  ];
  return known.reduce((text, [from, to]) => text.replaceAll(from, to), line).trimEnd();
}
