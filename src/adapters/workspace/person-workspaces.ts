import type { PersonWorkspaces } from "../../capabilities/people.ts";
import { objectNameOf, type WorkspaceAddress } from "../../protocol/workspace/address.ts";

const UNREACHABLE = { kind: "unreachable" } as const;

/** Reaches the data of people in the objects of workspaces; without a binding there are none. */
export function createPersonWorkspaces(binding: unknown): PersonWorkspaces {
  const workspaces = binding as DurableObjectNamespace;
  const objectOf = (address: WorkspaceAddress): DurableObjectStub & PersonWorkspaces =>
    workspaces.get(workspaces.idFromName(objectNameOf(address))) as DurableObjectStub &
      PersonWorkspaces;
  return {
    async exportPerson(address, page) {
      try {
        return await objectOf(address).exportPerson(address, page);
      } catch {
        return UNREACHABLE;
      }
    },
    async erasePerson(address, personId) {
      try {
        return await objectOf(address).erasePerson(address, personId);
      } catch {
        return UNREACHABLE;
      }
    },
  };
}
