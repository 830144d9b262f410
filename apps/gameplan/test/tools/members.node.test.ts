import { expect, test } from "vitest";
import { discard } from "../../tools/bin/discard.ts";
import { emptyBin } from "../../tools/bin/empty-bin.ts";
import { listBin } from "../../tools/bin/list-bin.ts";
import { revert } from "../../tools/bin/revert.ts";
import { EVERYBODY, type Member } from "../../tools/entities/member.ts";
import { createGameSystem } from "../../tools/game-system/create-game-system.ts";
import { deleteGameSystem } from "../../tools/game-system/delete-game-system.ts";
import { changeMember } from "../../tools/project/change-member.ts";
import { createProject } from "../../tools/project/create-project.ts";
import { deleteProject } from "../../tools/project/delete-project.ts";
import { getProject } from "../../tools/project/get-project.ts";
import { listMembers } from "../../tools/project/list-members.ts";
import { startProject } from "./start-project.ts";

/** A project of ann, and what she says about who is in it. */
function startTeam() {
  const started = startProject("Combat", "Movement");
  const { workspace, projectId } = started;
  const set = (person: string, access: Member["access"]) => {
    const { revision } = workspace.call(listMembers, { projectId });
    return workspace.call(changeMember, { projectId, revision, person, access });
  };
  const reaches = (person: string) =>
    workspace.refusal(getProject, { projectId }, person) === undefined;
  return { ...started, set, reaches };
}

test("a project is open to everybody until its owner says otherwise, and a name counts first", () => {
  const { set, reaches } = startTeam();
  expect(reaches("user:ben")).toBe(true);
  set("user:ben", "none");
  expect([reaches("user:ben"), reaches("user:cat")]).toEqual([false, true]);
  set(EVERYBODY, "none");
  set("user:ben", "member");
  expect([reaches("user:ann"), reaches("user:ben"), reaches("user:cat")]).toEqual([
    true,
    true,
    false,
  ]);
});

test("Undo of a removal lets the person in again, and is for owners alone", () => {
  const { workspace, projectId, set, reaches } = startTeam();
  set("user:cat", "owner");
  const { revision } = set("user:ben", "none");
  const undo = { entity: "project", id: projectId, revision } as const;
  expect(workspace.refusal(revert, undo, "user:dan")).toBe("forbidden");
  expect(workspace.refusal(revert, undo, "user:ben")).toBe("not_found");
  workspace.call(revert, undo, "user:cat");
  expect(reaches("user:ben")).toBe(true);
});

test("who gave a project away deletes it no more, also not by taking its creation back", () => {
  const { workspace } = startTeam();
  const { project } = workspace.call(createProject, { name: "Garden" });
  const projectId = project.id;
  const set = (person: string, access: Member["access"], revision: number, by?: string) =>
    workspace.call(changeMember, { projectId, revision, person, access }, by);
  set("user:ben", "owner", 1);
  set("user:ann", "member", 2, "user:ben");
  const creation = { entity: "project", id: projectId, revision: 3 } as const;
  expect(workspace.refusal(deleteProject, { projectId, revision: 3 })).toBe("forbidden");
  expect(workspace.refusal(discard, creation)).toBe("forbidden");
  workspace.call(discard, creation, "user:ben");
});

test("who is not in a project neither sees nor empties what it has in the bin", () => {
  const { workspace, ids, set } = startTeam();
  const [systemId = ""] = ids;
  workspace.call(deleteGameSystem, { systemId, revision: 1 });
  set("user:ben", "none");
  expect(workspace.refusal(emptyBin, {}, "user:ben")).toBe("conflict");
  const { project } = workspace.call(createProject, { name: "Garden" }, "user:ben");
  const fields = { projectId: project.id, name: "Weather", systemSlug: "weather" };
  const { system } = workspace.call(createGameSystem, fields, "user:ben");
  workspace.call(deleteGameSystem, { systemId: system.id, revision: 1 }, "user:ben");
  expect(workspace.call(listBin, {}, "user:ben")).toMatchObject({ total: 1 });
  expect(workspace.call(emptyBin, {}, "user:ben")).toEqual({ removed: 1 });
  expect(workspace.call(listBin, {}, "user:ann")).toMatchObject({ items: [{ id: systemId }] });
});
