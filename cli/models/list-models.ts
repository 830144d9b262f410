import type { ProviderSettings } from "../../src/env.ts";
import { fail, ok, type Result } from "../../src/protocol/outcome/result.ts";
import { isJsonObject, type JsonObject } from "../../src/protocol/json/value.ts";
import { readText } from "../bounded-input.ts";
import { CommandError } from "../command.ts";
import type { ModelWire } from "../../src/wire/model/model-wire.ts";

/** What a provider's list says of one model. */
interface ListedModel {
  /** `YYYY-MM-DD`. */
  readonly shutdownDate?: string;
}

/** A provider's list by its names of the models, or why there is none, without its own words. */
export type ListedModels = Result<ReadonlyMap<string, ListedModel>, string>;

const TIMEOUT_MS = 15_000;
/** A provider that always promises another page is not asked for ever. */
const MAX_PAGES = 20;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/**
 * Reads a provider's list of models: `GET <address>/models`. Redirects are not followed, so the key
 * reaches no other host. Never throws.
 * Sources: https://developers.openai.com/api/reference/resources/models/methods/list (with the
 * optional `shutdown_date`) and the types of `@anthropic-ai/sdk` (with pages); read 2026-11-22.
 */
export async function listModels(
  { baseUrl, apiKey }: ProviderSettings,
  wire: ModelWire,
  fetch: (request: Request) => Promise<Response>,
): Promise<ListedModels> {
  const models = new Map<string, ListedModel>();
  let after: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const url = new URL(`${baseUrl}/models`);
    if (wire.id === "anthropic") url.searchParams.set("limit", "1000");
    if (after !== undefined) url.searchParams.set("after_id", after);
    const read = await readPage(new Request(url, requestInit(wire, apiKey)), fetch);
    if (!read.ok) return read;
    const { data, has_more: hasMore, last_id: lastId } = read.value;
    if (!Array.isArray(data)) return fail("its answer is not a list of models");
    for (const item of data) addModel(models, item);
    if (hasMore !== true || typeof lastId !== "string") return ok(models);
    after = lastId;
  }
  return fail("its list of models does not end");
}

function requestInit(wire: ModelWire, apiKey: string): RequestInit {
  return {
    headers: { ...wire.headers(apiKey), accept: "application/json" },
    redirect: "manual",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  };
}

async function readPage(
  request: Request,
  fetch: (request: Request) => Promise<Response>,
): Promise<Result<JsonObject, string>> {
  try {
    const response = await fetch(request);
    if (!response.ok) {
      await response.body?.cancel();
      return fail(`it answered with HTTP ${response.status}`);
    }
    const body: unknown = JSON.parse(await readText(response));
    return isJsonObject(body) ? ok(body) : fail("its answer is not a list of models");
  } catch (error) {
    if (error instanceof CommandError) return fail(error.message);
    // The text of another error may repeat the request.
    return fail(error instanceof SyntaxError ? "its answer is not JSON" : "it cannot be reached");
  }
}

function addModel(models: Map<string, ListedModel>, item: unknown): void {
  if (!isJsonObject(item)) return;
  const { id, shutdown_date: date } = item;
  if (typeof id !== "string") return;
  const isDate = typeof date === "string" && DATE.test(date) && !Number.isNaN(Date.parse(date));
  models.set(id, isDate ? { shutdownDate: date } : {});
}
