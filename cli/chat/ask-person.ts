import type { Client } from "../../src/client/client.ts";
import type { RunEvent } from "../../src/client/run-stream.ts";
import { asksAnswer, fieldsOf } from "../../src/protocol/approval/question.ts";
import type { JsonValue } from "../../src/protocol/json/value.ts";
import type { Terminal } from "./terminal.ts";
import { toVisibleLines } from "./visible-text.ts";

type Requested = Extract<RunEvent, { readonly type: "approval_requested" }>;

/** What is shown of a request. */
interface Asked extends Pick<Requested, "lines"> {
  readonly approval: Pick<
    Requested["approval"],
    "approvalId" | "title" | "asks" | "riskClass" | "toolId"
  >;
  readonly packet: Pick<Requested["packet"], "question">;
}

/** What the decision is read from and sent with. */
interface DecisionPorts {
  readonly client: Pick<Client, "approvals">;
  readonly terminal: Pick<Terminal, "ask" | "note">;
}

/**
 * Shows an approval, and takes the decision of the person at the terminal. Threat: an answer that
 * was meant otherwise. So nothing but a whole "yes" approves, and a critical call needs its tool's
 * name.
 */
export async function askPerson(
  { approval, lines, packet }: Asked,
  { client, terminal }: DecisionPorts,
): Promise<void> {
  const { approvalId, title, asks, riskClass, toolId } = approval;
  terminal.note(`\n? ${title}`);
  for (const { label, text, was } of lines) {
    const before = was === undefined ? "" : was === null ? " (new)" : ` (was: ${was})`;
    terminal.note(`  ${label}: ${text}${before}`);
  }
  const read = await client.approvals.get(approvalId);
  if (!read.ok) return terminal.note(`  ${read.failure.message}`);
  if (!read.value.mayDecide) return terminal.note("  Somebody else has to decide. The run waits.");
  const isAnswered = asksAnswer(asks);
  const answer = isAnswered ? await readForm(packet.question?.schema ?? {}, terminal) : {};
  const word = riskClass === "CRITICAL_MUTATION" && asks === undefined ? toolId : "yes";
  const verb = asks === "answer" ? "Send" : isAnswered ? "Answer and approve" : "Approve";
  const said = await terminal.ask(`  ${verb}? Type ${word}, or no: `);
  if (said === undefined) return terminal.note("  Nobody decided. The run waits.");
  const isYes = said.trim() === word;
  const body = !isYes
    ? ({ decision: "reject" } as const)
    : isAnswered
      ? ({ decision: "answer", answer } as const)
      : ({ decision: "approve" } as const);
  const decided = await client.approvals.decide(approvalId, body);
  if (decided.ok) return terminal.note(`  ${decided.value.status}`);
  terminal.note(`  ${toVisibleLines(decided.failure.message)}`);
  for (const { pointer, message } of decided.failure.problem?.errors ?? []) {
    terminal.note(`  ${pointer}: ${message}`);
  }
}

/** Reads a form, one field a line. The server checks the answer. */
async function readForm(
  schema: NonNullable<Asked["packet"]["question"]>["schema"] | Record<string, never>,
  terminal: DecisionPorts["terminal"],
): Promise<Record<string, JsonValue>> {
  const answer: Record<string, JsonValue> = {};
  for (const [name, field] of fieldsOf(schema)) {
    const listed = Array.isArray(field["enum"]) ? ` (${field["enum"].join(", ")})` : "";
    const text = (await terminal.ask(`  ${toVisibleLines(`${name}${listed}`)}: `))?.trim() ?? "";
    if (text !== "") answer[name] = readValue(text, field["type"]);
  }
  return answer;
}

function readValue(text: string, type: JsonValue | undefined): JsonValue {
  if (type === "boolean")
    return /^(?:yes|true)$/i.test(text) || (!/^(?:no|false)$/i.test(text) && text);
  const number = Number(text);
  return (type === "number" || type === "integer") && Number.isFinite(number) ? number : text;
}
