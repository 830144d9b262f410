import type { ApprovalsApi } from "../../approval/api.ts";
import type { ApprovalCardPorts } from "../../approval/card.ts";
import type { ApprovalInfo } from "../../approval/info.ts";
import type { ChatTools } from "../conversations/chat-tools.ts";
import type { UndoApi, UndoCall } from "./undo-api.ts";
import { UndoView } from "./undo-view.ts";

export interface UndoDeskPorts extends Pick<ChatTools, "createCard"> {
  readonly api: UndoApi;
  readonly approvals: ApprovalsApi;
}

/** Delay until the page looks again at an undo that goes on. */
const LOOK_AGAIN_MS = 1_500;

/**
 * Undo of the calls of one run: reads how each stands once the run has ended, asks for an undo, and
 * looks again while one goes on.
 * Ownership: one per shown run. Contract: a run that cannot be read shows nothing.
 */
export class UndoDesk {
  readonly #ports: UndoDeskPorts;
  readonly #views = new Map<string, UndoView>();
  #runId: string | undefined;
  #scheduled: ReturnType<typeof setTimeout> | undefined;

  constructor(ports: UndoDeskPorts) {
    this.#ports = ports;
  }

  /** Creates the view of one call. It stays hidden until the desk is open. */
  createView(toolCallId: string, name: string): UndoView {
    const ports: Omit<ApprovalCardPorts, "api"> = {
      isStreamed: false,
      onChange: ({ status }) => status !== "pending" && this.#lookAgain(0),
    };
    const view = new UndoView(name, {
      createCard: (approval) => this.#ports.createCard(ports, approval),
      onUndo: (invocationId) => void this.#undo(view, invocationId),
    });
    this.#views.set(toolCallId, view);
    return view;
  }

  /** Reads the calls of the run that has ended, once. */
  open(runId: string): void {
    if (this.#runId !== undefined || this.#views.size === 0) return;
    this.#runId = runId;
    this.#ports.api.elsewhere.addEventListener("undone", () => this.#lookAgain(0));
    void this.#look(runId);
  }

  async #undo(view: UndoView, invocationId: string): Promise<void> {
    const runId = this.#runId ?? "";
    const refusal = await this.#ports.api.undo(runId, invocationId);
    await this.#look(runId);
    if (refusal !== undefined) view.refuse(refusal);
  }

  async #look(runId: string): Promise<void> {
    const calls = await this.#ports.api.calls(runId);
    await Promise.all((calls ?? []).map((call) => this.#show(call)));
    const isGoingOn = calls?.some(({ undo }) => undo?.status === "running");
    if (isGoingOn) this.#lookAgain(LOOK_AGAIN_MS);
  }

  async #show(call: UndoCall): Promise<void> {
    const view = this.#views.get(call.toolCallId);
    const isRunning = call.undo?.status === "running";
    view?.update(call, isRunning ? await this.#findApproval(call) : undefined);
  }

  /** Finds the approval that the run of an undo waits for, if the reader may see it. */
  async #findApproval({ undo }: UndoCall): Promise<ApprovalInfo | undefined> {
    const calls = undo?.runId === undefined ? [] : await this.#ports.api.calls(undo.runId);
    const approvalId = calls?.[0]?.approvalId;
    const read =
      approvalId === undefined ? undefined : await this.#ports.approvals.read(approvalId);
    return read?.ok ? read.value : undefined;
  }

  #lookAgain(delayMs: number): void {
    clearTimeout(this.#scheduled);
    const isShown = [...this.#views.values()].some(({ root }) => root.isConnected);
    if (!isShown) return;
    this.#scheduled = setTimeout(() => void this.#look(this.#runId ?? ""), delayMs);
  }
}
