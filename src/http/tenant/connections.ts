import { CONNECTION_FIELDS, parseConnectionId } from "../../protocol/connection/stored.ts";
import { problem } from "../request/problem.ts";
import { readJson } from "../request/read-json.ts";
import { recordChange } from "./record-change.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";

/** Writes the connections of a tenant. */
export const CONNECTION_ROUTES: Routes = {
  "/v1/connections/:id": {
    PUT: { scope: "connections:write", handle: putConnection },
    DELETE: { scope: "connections:write", handle: deleteConnection },
  },
};

/** `PUT /v1/connections/:id`: stores or replaces credentials. No route ever returns them. */
async function putConnection(authorised: AuthorisedRequest): Promise<Response> {
  const { request, principal, services } = authorised;
  const connectionId = parseConnectionId(authorised.id);
  if (!connectionId) return problem("connection_id_invalid");
  const body = await readJson(request, services.connectionBody, CONNECTION_FIELDS);
  if (!body.ok) return body.failure;
  await services.connections.put(principal.tenantId, connectionId, body.value);
  return recordChange(authorised, { action: "connection.stored", connectionId });
}

/** `DELETE /v1/connections/:id`: deletes credentials. Deleting absent ones succeeds too. */
async function deleteConnection(authorised: AuthorisedRequest): Promise<Response> {
  const { principal, services, id } = authorised;
  const connectionId = parseConnectionId(id);
  if (!connectionId) return problem("connection_id_invalid");
  await services.connections.remove(principal.tenantId, connectionId);
  return recordChange(authorised, { action: "connection.removed", connectionId });
}
