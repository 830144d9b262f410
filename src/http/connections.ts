import { CONNECTION_FIELDS, connectionBody, parseConnectionId } from "../protocol/connection.ts";
import { problem } from "./problem.ts";
import { readJson } from "./read-json.ts";
import type { Authorised } from "./routes.ts";

/** `PUT /v1/connections/:id`: stores credentials, or replaces them; nothing ever answers them. */
export async function putConnection(authorised: Authorised): Promise<Response> {
  const { request, principal, services } = authorised;
  const connectionId = parseConnectionId(authorised.id);
  if (!connectionId) return problem("connection_id_invalid");
  const body = await readJson(request, connectionBody, CONNECTION_FIELDS);
  if (!body.ok) return body.failure;
  await services.connections.put(principal.tenantId, connectionId, body.value);
  return new Response(null, { status: 204 });
}

/** `DELETE /v1/connections/:id`: forgets credentials, or finds them gone. */
export async function deleteConnection({ principal, services, id }: Authorised): Promise<Response> {
  const connectionId = parseConnectionId(id);
  if (!connectionId) return problem("connection_id_invalid");
  await services.connections.remove(principal.tenantId, connectionId);
  return new Response(null, { status: 204 });
}
