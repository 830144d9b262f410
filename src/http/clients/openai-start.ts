import { eventLines } from "../../wire/openai-inbound/event-lines.ts";
import type { Aside } from "../../protocol/run/request.ts";
import type { AuthorisedRequest } from "../request/authorise.ts";
import { requestRun, startRun } from "../runs/chat.ts";
import { readAsked } from "./named-chat.ts";
import { readModel } from "./openai-models.ts";

/** What a client of OpenAI asks for, in the words of `POST /v1/chat`. Nothing of it is checked. */
export interface Asked {
  readonly asked: object;
  readonly model: string | null | undefined;
  readonly bodyBytes: number;
  /** What the words become while the run before them goes on. */
  readonly aside?: Aside;
}

/** Starts the run that a client of OpenAI asks for; answers its lines, or the refusal. */
export async function startAsked(
  authorised: AuthorisedRequest,
  { asked, model, bodyBytes, aside }: Asked,
): Promise<Response> {
  const body = readAsked({ ...asked, ...(await readModel(authorised, model)) });
  if (!body.ok) return body.failure;
  const run = await requestRun(authorised, body.value, bodyBytes);
  if (!run.ok) return run.failure;
  return startRun(authorised, { ...run.value, ...(aside && { aside }) }, eventLines);
}
