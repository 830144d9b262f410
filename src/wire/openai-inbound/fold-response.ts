import { isAskedHere } from "../../protocol/approval/asked-here.ts";
import { NO_USAGE, type Usage } from "../../protocol/model/usage.ts";
import type { StreamedRun } from "../../protocol/run/client-wire.ts";
import type { AiEvent, LoggedEvent } from "../../protocol/run/event.ts";
import type { EventLine } from "./event-line-reader.ts";
import { formatNote, type ApprovalLink } from "./notes.ts";
import { formatResponseId, type Leg } from "./response-id.ts";
import { describeResponse, endingOf, type Ending } from "./response-object.ts";
import { ResponseOutput } from "./response-output.ts";

/** More than an incarnation of a run sends. */
const FRAMES_OF_AN_EPOCH = 1e7;

/** Makes an answer of the events of a run. */
export interface Fold {
  readonly hasEnded: boolean;
  /** Takes the next event; answers its frames, each whole. */
  take(line: EventLine): string;
  /** The run waits, and goes on later. Answers the frames that say so. */
  rest(): string;
}

/**
 * Makes one response of the events of its run, from the first event on: the frames of its stream,
 * and the whole of it. Contract: the same events give the same frames under the same numbers.
 * Source: openai 7.55.0, ResponseStreamEvent; openresponses.org, 2026-11-24.
 */
export class ResponseFold implements Fold {
  readonly #leg: Leg;
  readonly #linkOf: ApprovalLink;
  readonly #output = new ResponseOutput((type, members) => this.#send(type, members));
  /** Approvals that the caller has not answered. */
  readonly #asked = new Set<string>();
  /** The newest approval of each call. */
  readonly #approvals = new Map<string, string>();
  #run: StreamedRun | undefined;
  #before: Usage = NO_USAGE;
  #usage: Usage | undefined;
  #ending: Ending | undefined;
  #hasBegun = false;
  /** Numbers the frames. */
  #sent = 0;
  #frames = "";
  readonly #seen: number;

  /** `seen`: the number of the last frame that the caller has. */
  constructor(leg: Leg, linkOf: ApprovalLink, seen = -1) {
    this.#leg = leg;
    this.#linkOf = linkOf;
    this.#seen = seen;
  }

  get hasEnded(): boolean {
    return this.#ending !== undefined;
  }

  take(line: EventLine): string {
    this.#run ??= line.run;
    this.#note(line);
    if (!this.hasEnded) this.#read(line);
    return this.#flush();
  }

  rest(): string {
    if (!this.hasEnded) {
      this.#begin();
      this.#end({ status: "incomplete", reason: "run_waiting" });
    }
    return this.#flush();
  }

  /** The response as it stands. Contract: the first event was taken. */
  response(): object {
    const run = this.#run;
    if (!run) throw new Error("a run has no first event");
    return describeResponse({
      id: formatResponseId(run.runId, this.#leg),
      run,
      output: this.#output.items,
      ending: this.#ending,
      usage: this.#usage && [this.#usage, this.#before],
    });
  }

  /** Remembers what later events do not say. */
  #note({ event }: LoggedEvent): void {
    if (event.type === "approval_requested") {
      const { approvalId } = event.approval;
      this.#approvals.set(event.toolCallId, approvalId);
      if (isAskedHere(event.approval)) this.#asked.add(approvalId);
    }
    if (event.type === "approval_updated") this.#asked.delete(event.approval.approvalId);
  }

  #read({ event, position: { epoch, seq } }: LoggedEvent): void {
    const { after, until } = this.#leg;
    if (event.type === "run_waiting" && seq <= after) this.#before = event.usage;
    if (seq <= after && event.type !== "done") return;
    this.#begin();
    // Frames that a crash took away had numbers, too: a reader that has them reads on behind them.
    this.#sent = Math.max(this.#sent, epoch * FRAMES_OF_AN_EPOCH);
    if (event.type === "done") {
      this.#usage = event.usage;
      return this.#end(endingOf(event.reason, event.error));
    }
    if (event.type !== "run_waiting") return this.#show(event);
    this.#usage = event.usage;
    if (seq > until && this.#asked.size > 0) this.#end({ status: "completed" });
  }

  #show(event: AiEvent): void {
    if (event.type === "approval_requested" && isAskedHere(event.approval)) {
      this.#output.ask(event);
    } else if (event.type === "approval_requested" || event.type === "tool_call_waiting") {
      this.#say(event);
    } else if (event.type === "tool_call_start") {
      this.#output.openCall(event, this.#approvals.get(event.toolCallId));
    } else if (event.type === "tool_call_result") {
      this.#output.closeCall(event, this.#approvals.get(event.toolCallId));
    } else if (event.type === "client_tool_call") {
      if (this.#run) this.#output.returnCall(event, this.#run.runId);
    } else this.#write(event);
  }

  #write(event: AiEvent): void {
    const { type } = event;
    if (type === "text_started") this.#output.openText("text", event.part, this.#runId);
    if (type === "reasoning_started") this.#output.openText("reasoning", event.part, this.#runId);
    if (type === "text_delta" || type === "reasoning_delta") {
      this.#output.addText(event.part, event.text);
    }
    if (type === "text_finished" || type === "reasoning_finished") {
      this.#output.closeText(event.part);
    }
    if (type === "text_withdrawn") this.#output.withdraw(event);
  }

  /** Says in a message of its own that the run waits for others. */
  #say(event: AiEvent): void {
    const part = `note_${this.#output.items.length}`;
    this.#output.openText("text", part, this.#runId);
    this.#output.addText(part, formatNote(event, this.#linkOf) ?? "");
    this.#output.closeText(part);
  }

  get #runId(): string {
    return this.#run?.runId ?? "";
  }

  #begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#send("created", { response: this.response() });
    this.#send("in_progress", { response: this.response() });
  }

  #end(ending: Ending): void {
    this.#output.closeAll();
    this.#ending = ending;
    this.#send(ending.status, { response: this.response() });
    this.#frames += "data: [DONE]\n\n";
  }

  #send(name: string, members: object): void {
    const sequence_number = this.#sent++;
    if (sequence_number <= this.#seen) return;
    const type = `response.${name}`;
    const data = JSON.stringify({ type, sequence_number, ...members });
    this.#frames += `event: ${type}\ndata: ${data}\n\n`;
  }

  #flush(): string {
    const frames = this.#frames;
    this.#frames = "";
    return frames;
  }
}
