import { eventLines } from "../../wire/openai-inbound/event-lines.ts";
import type { RunRequest } from "../../protocol/run/request.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import type { ShownTool } from "../../protocol/tool/spec.ts";
import type { AuthorisedRequest } from "../request/authorise.ts";
import { problem } from "../request/problem.ts";
import { requestRun, startRun } from "../runs/chat.ts";
import type { ClientToolParts, PostedResult } from "./client-tool-parts.ts";
import { readAsked } from "./named-chat.ts";
import { readModel } from "./openai-models.ts";

/** What a client of OpenAI asks for, in the words of `POST /v1/chat`. Nothing of it is checked. */
export interface Asked extends Pick<RunRequest, "bodyBytes" | "clientTools" | "aside"> {
  readonly asked: { readonly messages: unknown; readonly parentId?: unknown };
  readonly model: string | null | undefined;
  /** The results of tools of the client, with which the post ends. */
  readonly results?: readonly PostedResult[];
}

/** Starts the run that a client of OpenAI asks for; answers its lines, or the refusal. */
export async function startAsked(
  authorised: AuthorisedRequest,
  { asked, model, results = [], ...more }: Asked,
): Promise<Response> {
  const tools = results.length > 0 && partsOf(authorised);
  const continued = tools && (await tools.continueRun(authorised, results));
  if (continued && !continued.ok) return continued.failure;
  const place = continued ? continued.value : undefined;
  const { parentId = place?.parentId } = asked;
  if (place && parentId !== place.parentId) return problem("client_call_not_found");
  const body = readAsked({ ...asked, ...place, ...(await readModel(authorised, model)) });
  if (!body.ok) return body.failure;
  const isResults = place && { isResults: true as const };
  const run = await requestRun(authorised, body.value, { ...more, ...isResults });
  return run.ok ? startRun(authorised, run.value, eventLines) : run.failure;
}

/** Reads the tools that a client declares. Fails: the response to send. */
export function readClientTools(
  authorised: AuthorisedRequest,
  declared: readonly unknown[] | null | undefined,
): Result<readonly ShownTool[], Response> {
  if (!declared || declared.length === 0) return ok([]);
  const refusal = () => fail(problem("client_tools_not_allowed"));
  return partsOf(authorised)?.readTools(authorised, declared) ?? refusal();
}

function partsOf({ services }: AuthorisedRequest): ClientToolParts | undefined {
  return services.clientTools?.parts as ClientToolParts | undefined;
}
