import { isJsonObject } from "../../protocol/json/value.ts";
import { problem } from "../request/problem.ts";

/**
 * Gives a refusal the shape that clients of OpenAI read. The problem's own members stay beside it.
 * A repetition of what was refused is refused again, so the client is told not to.
 */
export async function toOpenAIRefusal(refusal: Response): Promise<Response> {
  const body: unknown = await refusal.json();
  const {
    title,
    detail,
    errors,
    code,
    status: _status,
    type: _type,
    ...more
  } = isJsonObject(body) ? body : {};
  const [first] = Array.isArray(errors) ? errors : [];
  const { pointer = null, message } = isJsonObject(first) ? first : {};
  const said = [detail ?? title, pointer && `${String(pointer)} ${String(message)}`];
  const type = refusal.status >= 500 ? "server_error" : "invalid_request_error";
  const error = { message: said.filter(Boolean).join(" "), type, param: pointer, code, ...more };
  const headers = new Headers(refusal.headers);
  headers.set("content-type", "application/json");
  if (!headers.has("retry-after")) headers.set("x-should-retry", "false");
  return Response.json({ error }, { status: refusal.status, headers });
}

/** Answers that a member of the body asks for what Interlock does not do. */
export function refuseMember(member: string): Response {
  const errors = [{ pointer: `/${member}`, message: "has a value that is not supported" }];
  return problem("member_not_supported", { errors });
}
