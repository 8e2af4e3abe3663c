import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { invalid, ProvisionError } from "../../model/errors.ts";
import { COLUMNS, ENTRY_VERSION, entryHash, type Genesis, genesisHash, type Row } from "./chain.ts";
import { JOURNAL_FILE, KEYS_FILE } from "./ground.ts";
import { MARK_FILE, type Mark, markExists, readMark } from "./mark.ts";
import { type Database, guarded, openDatabase } from "./sqlite.ts";
import { encodeRoot, readGenesis } from "./store.ts";
import { EMPTY_FRONTIER, type Frontier, leafHash, push, rootOf } from "./tree.ts";

/**
 * `flipped`: an entry does not hash to its hash. `reordered`: it does, at another place. `missing`: a place is empty.
 * `chain`: it does not follow the entry before it. `genesis`: the first does not follow the genesis. `version`: a form
 * that this version does not know. `replaced`: of another journal. `truncated`, `forked`: shorter, or other, than when
 * the high-water mark was written. `mark_missing`, `mark_damaged`, `journal_missing`, `corrupt`: the files themselves.
 */
export interface Problem {
  code: string;
  /** The entry that it is about, counted from 0; null where it is about none. */
  seq: number | null;
}

export interface Verification {
  ok: boolean;
  /** How many entries were looked at. */
  entries: number;
  /** Length and root, computed from the entries alone; null where there is no journal to read. */
  head: { jid: string; size: number; root: string } | null;
  /** How many of the first entries a signed checkpoint covers. */
  anchored: number;
  problems: Problem[];
}

/**
 * Verifies a journal offline, without any key: every hash, every link, the root, and, given the state folder and not
 * the file alone, the high-water mark. It reads the entries one by one and trusts nothing else in the database.
 */
export function verifyJournal(fileOrFolder: string): Verification {
  return guarded(fileOrFolder, () => {
    const folder = existsSync(fileOrFolder) && statSync(fileOrFolder).isDirectory() ? fileOrFolder : undefined;
    const file = folder === undefined ? fileOrFolder : join(folder, JOURNAL_FILE);
    const problems: Problem[] = [];
    // The mark first: it is written after the entries that it covers.
    const mark = folder === undefined ? undefined : tryMark(folder, problems);
    if (!existsSync(file)) {
      const traces = folder !== undefined && (markExists(folder) || existsSync(join(dirname(file), KEYS_FILE)));
      if (!traces) throw invalid("no_journal", `There is no journal at ${fileOrFolder}.`);
      return {
        ok: false,
        entries: 0,
        head: null,
        anchored: 0,
        problems: [...problems, { code: "journal_missing", seq: null }],
      };
    }
    const walk = startWalk(mark, problems);
    const genesis = tolerant(file, problems, () => walkFile(file, walk));
    if (genesis !== undefined) compareMark(walk, genesis, mark, folder);
    const head = genesis && { jid: genesis.jid, size: walk.next, root: encodeRoot(rootOf(walk.frontier)) };
    return { ok: problems.length === 0, entries: walk.entries, head: head ?? null, anchored: 0, problems };
  });
}

/** Damage to a file is a finding, not a failure of the audit. */
function tolerant<T>(where: string, problems: Problem[], work: () => T): T | undefined {
  try {
    return guarded(where, work);
  } catch (error) {
    if (!(error instanceof ProvisionError) || error.exit !== 9) throw error;
    problems.push({ code: error.code === "journal_corrupt" ? "corrupt" : error.code, seq: null });
    return undefined;
  }
}

function tryMark(folder: string, problems: Problem[]): Mark | undefined {
  return tolerant(folder, problems, () => readMark(folder));
}

interface Walk {
  mark: Mark | undefined;
  problems: Problem[];
  entries: number;
  /** The place that the next entry must have. */
  next: number;
  /** What its `prev` must be; undefined after a gap. */
  prev: string | undefined;
  frontier: Frontier;
  rootAtMark: string | undefined;
  gaps: number[];
  /** Entries that do not hash to their hash, to be named once all are known. */
  suspects: Row[];
}

function startWalk(mark: Mark | undefined, problems: Problem[]): Walk {
  const rootAtMark = mark?.size === 0 ? encodeRoot(rootOf(EMPTY_FRONTIER)) : undefined;
  return {
    mark,
    problems,
    entries: 0,
    next: 0,
    prev: undefined,
    frontier: EMPTY_FRONTIER,
    rootAtMark,
    gaps: [],
    suspects: [],
  };
}

function walkFile(file: string, walk: Walk): Genesis | undefined {
  const db = openDatabase(file, { readOnly: true });
  try {
    return db.transaction(() => walkEntries(db, walk)).deferred();
  } finally {
    db.close();
  }
}

function walkEntries(db: Database, walk: Walk): Genesis | undefined {
  const genesis = readGenesis(db);
  if (genesis === undefined) {
    walk.problems.push({ code: "genesis", seq: null });
    return undefined;
  }
  walk.prev = genesisHash(genesis);
  const rows = db.prepare<[], Row>(`SELECT ${COLUMNS.join(", ")} FROM entry ORDER BY seq`).iterate();
  for (const row of rows) visit(walk, genesis, row);
  nameSuspects(walk);
  return genesis;
}

function visit(walk: Walk, genesis: Genesis, row: Row): void {
  const found = (code: string, seq = row.seq) => walk.problems.push({ code, seq });
  if (row.seq !== walk.next) {
    found("missing", walk.next);
    walk.gaps.push(walk.next);
    walk.prev = undefined;
  }
  if (entryHash(row) !== row.entry_hash) walk.suspects.push(row);
  else if (row.v !== ENTRY_VERSION) found("version");
  else if (row.jid !== genesis.jid) found("replaced");
  else if (walk.prev !== undefined && row.prev !== walk.prev) found(row.seq === 0 ? "genesis" : "chain");
  walk.entries += 1;
  walk.next = row.seq + 1;
  walk.prev = row.entry_hash;
  walk.frontier = push(walk.frontier, leafHash(row.entry_hash), () => {});
  if (walk.mark !== undefined && walk.next === walk.mark.size) walk.rootAtMark = encodeRoot(rootOf(walk.frontier));
}

/** How many places are tried for an entry that may have been moved. */
const PLACES = 64;

/** An entry that would verify at another suspect's place, or at an empty one, was moved; any other was changed. */
function nameSuspects({ suspects, gaps, problems }: Walk): void {
  const places = [...suspects.slice(0, PLACES).map((row) => row.seq), ...gaps.slice(0, PLACES)];
  for (const row of suspects) {
    const moved = places.some((seq) => seq !== row.seq && entryHash({ ...row, seq }) === row.entry_hash);
    problems.push({ code: moved ? "reordered" : "flipped", seq: row.seq });
  }
}

function compareMark(walk: Walk, genesis: Genesis, mark: Mark | undefined, folder: string | undefined): void {
  const found = (code: string, seq: number | null) => walk.problems.push({ code, seq });
  if (mark === undefined) {
    if (folder !== undefined && walk.entries > 0 && !existsSync(join(folder, MARK_FILE))) found("mark_missing", null);
  } else if (mark.jid !== genesis.jid) found("replaced", null);
  else if (mark.size > walk.next) found("truncated", walk.next);
  else if (walk.problems.length === 0 && walk.rootAtMark !== mark.root) found("forked", null);
}
