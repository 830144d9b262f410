import type { Client } from "../../src/client/client.ts";
import type { RunEvent, RunStream } from "../../src/client/run-stream.ts";
import { askPerson } from "./ask-person.ts";
import type { Terminal } from "./terminal.ts";
import { toVisibleLines, toVisiblePiece } from "./visible-text.ts";

/** What each message of the chat is sent with. */
export interface ChatChoices {
  readonly conversationId?: string;
  readonly assistantId?: string;
  readonly model?: string;
}

interface Ports {
  readonly client: Client;
  readonly terminal: Terminal;
}

/** How often a run that waits for people is read. */
const RETURN_AFTER_MS = 1_000;

/**
 * Sends each line as a message, and shows the answer. Ctrl-C stops the run, and without a run the
 * chat. Answers whether each run ended well.
 */
export async function runChat(ports: Ports, choices: ChatChoices): Promise<boolean> {
  const { client, terminal } = ports;
  let { conversationId } = choices;
  let running: RunStream | undefined;
  let isWell = true;
  terminal.onInterrupt(() => {
    const runId = running?.runId;
    if (runId === undefined) return terminal.close();
    running = undefined;
    terminal.note("\nStopping the run. Ctrl-C again ends the chat.");
    void client.cancel(runId);
  });
  for (;;) {
    const line = await terminal.ask("> ");
    if (line === undefined) break;
    if (line.trim() === "") continue;
    const given = { ...choices, ...(conversationId !== undefined && { conversationId }) };
    const messages = [{ role: "user" as const, content: line }];
    running = client.chat({ messages, ...given }, { returnAfterMs: RETURN_AFTER_MS });
    const stream = running;
    isWell = (await showRun(stream, ports)) && isWell;
    running = undefined;
    ({ conversationId = conversationId } = stream);
  }
  if (conversationId !== undefined) terminal.note(`Go on with --conversation ${conversationId}`);
  return isWell;
}

/** Shows a run to its end; to its first question where nobody can answer. */
async function showRun(stream: RunStream, ports: Ports): Promise<boolean> {
  const { terminal } = ports;
  let isAsked = false;
  for await (const event of stream) {
    if (event.type === "approval_requested") {
      isAsked = true;
      if (terminal.isInteractive) await askPerson(event, ports);
    }
    if (event.type === "run_waiting" && !terminal.isInteractive) {
      const what = isAsked ? "a person" : "an operator";
      terminal.note(`The run ${stream.runId} waits for ${what}. It goes on after the decision.`);
      return false;
    }
    show(event, terminal);
    if (event.type === "done") return event.reason === "stop";
    if (event.type === "broken") return false;
  }
  return false;
}

function show(event: RunEvent, terminal: Terminal): void {
  const { type } = event;
  if (type === "text_delta") terminal.write(toVisiblePiece(event.text));
  else if (type === "text_finished") terminal.write("\n");
  else if (type === "tool_call_proposed") {
    terminal.note(`· ${toVisibleLines(event.title ?? event.toolName)}`);
  } else if (type === "tool_call_result") terminal.note(formatResult(event));
  else if (type === "broken") terminal.note(toVisibleLines(event.failure.message));
  else if (type === "done" && event.error) terminal.note(`The run failed: ${event.error.code}.`);
  else if (type === "done" && event.reason !== "stop") {
    terminal.note(`The run ended: ${event.reason}.`);
  }
}

function formatResult({
  observation,
}: Extract<RunEvent, { readonly type: "tool_call_result" }>): string {
  const { status, tool_identity: tool, result_payload: result } = observation;
  const [error] = result.errors;
  const why = error === undefined ? "" : `: ${toVisibleLines(error.message)}`;
  return `· ${toVisibleLines(tool.name)}: ${status.taxonomy_class}${why}`;
}
