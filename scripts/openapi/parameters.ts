import type { Schema } from "./schemas-of-types.ts";

interface Parameter {
  readonly description: string;
  readonly example?: string | number;
  /** What the check of the text comes to. */
  readonly schema?: Schema;
}

/** An id that stands for each run of the examples. */
export const EXAMPLE_RUN = "run_4Qm9xT2cVb7K_pZ1sR8wLq0dE";
/** Likewise of an approval. */
export const EXAMPLE_APPROVAL = "appr_4Qm9xT2cVb7K_pZ1sR8wLq0dE_1_1";

/** Parameters of a path, by the segment before them. */
const IN_PATHS: Readonly<Record<string, Parameter>> = {
  runs: { description: "Id of the run.", example: EXAMPLE_RUN },
  invocations: { description: "Id of the call within its run.", example: "inv_1" },
  images: { description: "Number of the image in the call's content, from 1.", example: "1" },
  conversations: {
    description: "Id of the conversation: that of its first run.",
    example: EXAMPLE_RUN,
  },
  approvals: { description: "Id of the approval.", example: EXAMPLE_APPROVAL },
  consents: {
    description: "Id of the consent.",
    example: EXAMPLE_APPROVAL.replace("appr", "cons"),
  },
  escalations: { description: "Id of the escalation.", example: "esc_1" },
  notifications: {
    description: "Id of the notification.",
    example: `msg_${EXAMPLE_APPROVAL}`,
  },
  tools: { description: "Id of the tool.", example: "core__calculate" },
  workspaces: { description: "Name of the workspace.", example: "studio" },
  assistants: { description: "Id of the assistant.", example: "support" },
  connections: { description: "Id of the connection.", example: "crm" },
  providers: { description: "Id of the provider.", example: "own" },
  people: { description: "Id of the person.", example: "user:ann" },
  chat: { description: "The client's name of the chat.", example: "chat-1" },
  responses: {
    description: "Id of the response.",
    example: EXAMPLE_RUN.replace("run", "resp"),
  },
  ":name": { description: "Id of the workspace.", example: "guild" },
};

const IN_QUERIES: Readonly<Record<string, Parameter>> = {
  limit: {
    description: "Entries of one page.",
    schema: { type: "integer", minimum: 1, maximum: 100, default: 25 },
    example: 25,
  },
  cursor: { description: "`next` of the page before. It belongs to the caller and the filters." },
  from: { description: "Not before this time: ISO 8601, UTC.", example: "2026-11-20T20:00:00Z" },
  to: { description: "Before this time: ISO 8601, UTC.", example: "2027-11-20T20:00:00Z" },
  fromDay: { description: "The first day of the report, UTC.", example: "2026-11-01" },
  toDay: { description: "The last day of the report, UTC.", example: "2026-11-28" },
  status: { description: "Only entries with this status." },
  state: { description: "Only entries in this state." },
  reason: { description: "Only entries with this reason." },
  kind: { description: "`call`: runs of one call without a model. `chat`: all others." },
  actor: { description: "Only runs that this actor started.", example: "user:ann" },
  person: {
    description: "Only entries of this person, for whom the run acts.",
    example: "user:ann",
  },
  title: { description: "A part of the title, in any letter case.", example: "Tokyo" },
  tool: { description: "Only calls of this tool.", example: "core__calculate" },
  pattern: { description: "Only approvals of this pattern." },
  mine: {
    description: "Only those that the caller's runs ask for.",
    schema: { type: "boolean", default: false },
  },
  decidable: {
    description: "Only those that the caller may decide.",
    schema: { type: "boolean", default: false },
  },
  sort: { description: "`expiry`: the one that expires first comes first." },
  rating: { description: "Only feedback with this rating." },
  run: { description: "Only records of this run.", example: EXAMPLE_RUN },
  action: { description: "Only records of this action." },
  view: { description: "Shows calls as a prompt history." },
  format: { description: "The form of the answer." },
  hash: { description: "The hash of an earlier document." },
  assistant: { description: "Id of the assistant.", example: "default" },
  model: {
    description: "Id of the model. Without it: that of the assistant.",
    example: "gpt-6.1-terra",
  },
  version: { description: "Another version that the policy allows.", example: "1.0.0" },
  wire: { description: "Protocol of the stream.", example: "assistant-transport" },
  stream: { description: "`true`: the answer is a stream." },
  starting_after: {
    description: "The number of the last event that the reader has.",
    schema: { type: "integer" },
    example: 1,
  },
};

/** Describes a parameter of a query. Fails: throws for one without a text. */
export function inQuery(name: string, schema: Schema = { type: "string" }): object {
  const known = IN_QUERIES[name];
  if (!known)
    throw new Error(`scripts/openapi/parameters.ts needs a text for the query of ${name}.`);
  return { name, in: "query", schema, ...known };
}

/** Describes the parameters of a path. Fails: likewise. */
export function inPath(path: string): readonly object[] {
  const segments = path.split("/");
  return segments.flatMap((segment, at) => {
    if (!segment.startsWith(":")) return [];
    const known = IN_PATHS[segments[at - 1] ?? ""];
    if (!known) throw new Error(`scripts/openapi/parameters.ts needs a text for ${path}.`);
    const name = segment.slice(1);
    return [{ name, in: "path", required: true, schema: { type: "string" }, ...known }];
  });
}
