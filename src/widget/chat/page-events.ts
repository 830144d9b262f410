import type { ChatEvents } from "../cards/chat-events.ts";
import type { ToolPart } from "./answer/answer.ts";
import { describeFailure } from "./exchange/exchange-ending.ts";
import { type Exchange, isActive } from "./exchange/exchange.ts";
import { describeCall } from "./tool-card/tool-card-body.ts";

export type SendEvent = <Name extends keyof ChatEvents>(
  name: Name,
  detail: ChatEvents[Name],
) => void;

/**
 * Tells the page what happens in the chat, once each. Turns that the chat only loads to show them
 * tell nothing.
 */
export class PageEvents {
  readonly #send: SendEvent;
  /** What was told of each turn that the page saw running. */
  readonly #told = new Map<number, Exchange>();
  #notice = "";

  constructor(send: SendEvent) {
    this.#send = send;
  }

  /** Call this after each change of the conversation. */
  look(exchanges: readonly Exchange[], notice: string): void {
    for (const exchange of exchanges) {
      const before = this.#told.get(exchange.key);
      if (exchange === before || (!before && !isActive(exchange))) continue;
      this.#told.set(exchange.key, exchange);
      this.#tell(exchange, before);
    }
    if (notice !== this.#notice && notice !== "") {
      this.#send("error", { code: "notice", message: notice });
    }
    this.#notice = notice;
  }

  #tell(exchange: Exchange, before: Exchange | undefined): void {
    const { runId = "", answer, link } = exchange;
    if (runId !== (before?.runId ?? "")) this.#send("run", { runId, state: "started" });
    if (answer.parts !== before?.answer.parts) this.#tellCalls(exchange, before);
    if (isWaiting(exchange) && !(before && isWaiting(before))) {
      this.#send("run", { runId, state: "waiting" });
    }
    if (link === before?.link) return;
    const { reason, code } = answer.done ?? {};
    const message = describeFailure(exchange);
    if (message !== "") {
      const failed = code ?? (link === "broken" ? "connection" : "failed");
      this.#send("error", { code: failed, message, ...(runId && { runId }) });
    }
    if (link === "done" && reason !== undefined) {
      this.#send("run", { runId, state: "ended", reason });
    }
  }

  #tellCalls({ runId = "", answer }: Exchange, before: Exchange | undefined): void {
    for (const [at, part] of answer.parts.entries()) {
      const known = before?.answer.parts[at];
      if (part === known || part.kind !== "tool") continue;
      const old = known?.kind === "tool" ? known : undefined;
      if (part.state !== old?.state) this.#send("tool", { runId, ...describeCall(part) });
      this.#tellApproval(runId, part, old);
    }
  }

  #tellApproval(runId: string, { approval }: ToolPart, old: ToolPart | undefined): void {
    if (!approval) return;
    const { approvalId, toolId, title, riskClass, status } = approval;
    if (approvalId === old?.approval?.approvalId && status === old.approval.status) return;
    this.#send("approval", { runId, approvalId, toolId, title, riskClass, status });
  }
}

function isWaiting({ answer }: Exchange): boolean {
  return answer.parts.some((part) => part.kind === "tool" && part.state.startsWith("awaiting_"));
}
