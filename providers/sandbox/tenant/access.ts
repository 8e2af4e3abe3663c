import type { About, Change, Outcome } from "./outcome.ts";
import { about, guarded, insufficient } from "./outcome.ts";
import { assignmentView, membershipView } from "./views.ts";
import type { Group, License, User, World } from "./world.ts";
import { membersOf } from "./world.ts";

export function addMember(world: World, change: Change, groupId: string, userId: string): Outcome {
  const say = about(`group:${groupId}/member:${userId}`);
  const found = writable(world, change, say, groupId, userId);
  if ("answer" in found) return found;
  const { group, user } = found;
  const held = group.members.find((member) => member.user_id === user.id);
  const stop = guarded(say, change, held?.version ?? null);
  if (stop !== undefined) return stop;
  if (user.status === "deleted") return say.refuse(409, "account_deleted", `The account ${userId} is deleted.`);
  if (held !== undefined && change.token !== null) return say.same(membershipView(world, group, user.id), held.version);
  // An administrator who adds someone already there decides anew: the membership is theirs from now on.
  const version = change.version();
  if (held === undefined) group.members.push({ user_id: user.id, version });
  else held.version = version;
  return say.done(held === undefined ? 201 : 200, membershipView(world, group, user.id), version);
}

export function removeMember(world: World, change: Change, groupId: string, userId: string): Outcome {
  const say = about(`group:${groupId}/member:${userId}`);
  const found = writable(world, change, say, groupId, userId);
  if ("answer" in found) return found;
  const { group } = found;
  const held = group.members.find((member) => member.user_id === userId);
  const stop = guarded(say, change, held?.version ?? null);
  if (stop !== undefined) return stop;
  if (held === undefined) return say.refuse(404, "not_a_member", notDirect(world, group, userId));
  group.members = group.members.filter((member) => member !== held);
  return say.done(200, membershipView(world, group, userId));
}

function notDirect(world: World, group: Group, userId: string): string {
  const via = membersOf(world, group).filter((member) => member.user_id === userId);
  const through = via.length > 0 ? `, only through ${via.map((member) => member.via).join(", ")}` : "";
  return `${userId} is no direct member of ${group.name}${through}.`;
}

function writable(world: World, change: Change, say: About, groupId: string, userId: string): Outcome | Pair<Group> {
  const group = world.groups.find((one) => one.id === groupId);
  if (group === undefined) return say.refuse(404, "group_not_found", `There is no group ${groupId}.`);
  const user = world.users.find((one) => one.id === userId);
  if (user === undefined) return say.refuse(404, "user_not_found", `There is no account ${userId}.`);
  if (change.token === "ordinary" && group.sensitive) return insufficient(say, `A membership of ${group.name}`);
  if (group.membership === "dynamic")
    return say.refuse(409, "managed_by_rule", `A rule decides who is in ${group.name}.`);
  if (group.membership === "synced")
    return say.refuse(403, "managed_by_directory", `A directory decides who is in ${group.name}.`);
  return { group, user };
}
type Pair<T extends Group> = { group: T; user: User };

export function assignLicense(world: World, change: Change, licenseId: string, userId: string): Outcome {
  const say = about(`license:${licenseId}/user:${userId}`);
  const found = licensed(world, say, licenseId, userId);
  if ("answer" in found) return found;
  const { license, user } = found;
  const held = license.members.find((member) => member.user_id === userId);
  const stop = guarded(say, change, held?.version ?? null);
  if (stop !== undefined) return stop;
  if (user.status === "deleted") return say.refuse(409, "account_deleted", `The account ${userId} is deleted.`);
  const missing = license.requires.find((id) => {
    const group = world.groups.find((one) => one.id === id);
    return group === undefined || !membersOf(world, group).some((member) => member.user_id === userId);
  });
  if (missing !== undefined)
    return say.refuse(422, "requires_group", `${license.name} is for members of ${missing} only.`);
  if (held !== undefined) return say.same(assignmentView(license, userId), held.version);
  const version = change.version();
  license.members.push({ user_id: userId, version });
  return say.done(201, assignmentView(license, userId), version);
}

export function removeLicense(world: World, change: Change, licenseId: string, userId: string): Outcome {
  const say = about(`license:${licenseId}/user:${userId}`);
  const found = licensed(world, say, licenseId, userId);
  if ("answer" in found) return found;
  const { license } = found;
  const held = license.members.find((member) => member.user_id === userId);
  const stop = guarded(say, change, held?.version ?? null);
  if (stop !== undefined) return stop;
  if (held === undefined) return say.refuse(404, "not_assigned", `${userId} does not hold ${license.name}.`);
  license.members = license.members.filter((member) => member !== held);
  return say.done(200, assignmentView(license, userId));
}

function licensed(world: World, say: About, id: string, userId: string): Outcome | { license: License; user: User } {
  const license = world.licenses.find((one) => one.id === id);
  if (license === undefined) return say.refuse(404, "license_not_found", `There is no licence ${id}.`);
  const user = world.users.find((one) => one.id === userId);
  if (user === undefined) return say.refuse(404, "user_not_found", `There is no account ${userId}.`);
  return { license, user };
}
