import { domainToASCII } from "node:url";

/** From the configuration: which accounts are one person. */
export type Identities = Readonly<Record<string, string>>;

/** Accounts of a machine, a job or an agent; what follows their colon is no name at a service. */
const LOCAL = /^(os|ci|agent):/;

/**
 * One spelling for names that could be one person's. It rather takes two for one than one for two, since it only ever
 * keeps people from deciding about themselves.
 */
export function foldName(name: string): string {
  const folded = name.normalize("NFKC").toLowerCase().normalize("NFKC").trim();
  const at = folded.lastIndexOf("@");
  if (at < 0) return folded;
  const domain = domainToASCII(folded.slice(at + 1));
  return domain === "" ? folded : `${folded.slice(0, at)}@${domain}`;
}

/** Gives who stands behind an account, by the identities and what they lead to in turn; an unmapped one is only itself. */
function resolver(identities: Identities): (account: string) => string {
  const map = new Map(Object.entries(identities).map(([from, to]) => [foldName(from), foldName(to)]));
  return (account) => {
    const seen = new Set<string>();
    let name = foldName(account);
    for (let next = map.get(name); next !== undefined && !seen.has(name); next = map.get(name)) {
      seen.add(name);
      name = next;
    }
    return name;
  };
}

export function isSamePerson(one: string, other: string, identities: Identities): boolean {
  const behind = resolver(identities);
  return behind(one) === behind(other);
}

/** Whether the person is the subject, by any name of theirs and any key that the subject is known by. */
export function isSubject(person: string, subjectKeys: readonly string[], identities: Identities): boolean {
  const behind = resolver(identities);
  const known = behind(person);
  const accounts = Object.keys(identities).filter((account) => behind(account) === known);
  const names = new Set([person, known, ...accounts].flatMap(spellings));
  return subjectKeys.some((key) => [...spellings(key), behind(key)].some((spelling) => names.has(spelling)));
}

/** A name, and the same without the prefix of its service. */
function spellings(name: string): string[] {
  const folded = foldName(name);
  const colon = folded.indexOf(":");
  return colon < 0 || LOCAL.test(folded) ? [folded] : [folded, foldName(folded.slice(colon + 1))];
}

/** Whether the name, or who stands behind it, is an agent. */
export function isAgent(name: string, identities: Identities): boolean {
  return [foldName(name), resolver(identities)(name)].some((one) => one.startsWith("agent:"));
}
