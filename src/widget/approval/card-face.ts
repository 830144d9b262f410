import { formatTime, say } from "../texts/say.ts";
import type { ApprovalInfo } from "./info.ts";
import { formatRequirement, formatRisk, formatTimeLeft } from "./labels.ts";
import { el, setText } from "../dom.ts";
import { drawPacket } from "./packet-view.ts";
import { createTicker } from "./ticker.ts";

/** Creates the part of a card that every reader sees: title, risk, packet, votes and outcome. */
export function createCardFace(id: string) {
  const title = el("h3", { id, "aria-level": "2" });
  const risk = el("span", { class: "risk" });
  const head = el("div", { class: "head" }, title, risk);
  const packet = el("div", { class: "packet" });
  const votes = createVotes();
  const outcome = el("p", { class: "outcome", role: "status", tabindex: "-1" });
  const root = el("div", { class: "approval", role: "dialog", "aria-labelledby": id });
  root.append(head, packet, votes.root);
  const ticker = createTicker(() => root.isConnected && root.dataset["status"] === "pending");
  let shown = "";
  return {
    root,
    outcome,
    onTick: (listener: () => void) => ticker.onTick(listener),
    draw(approval: ApprovalInfo): void {
      const { status, riskClass, lines } = approval;
      root.dataset["status"] = status;
      root.dataset["risk"] = riskClass;
      setText(title, approval.title);
      setText(risk, formatRisk(riskClass));
      votes.draw(approval);
      // Details that the reader opened stay open while the packet does not change.
      const next = JSON.stringify(lines);
      if (shown !== next) packet.replaceChildren(...drawPacket(lines));
      shown = next;
      ticker.start();
    },
  };
}

function createVotes() {
  const requirement = el("p", { class: "requirement" });
  const list = el("ul", { class: "votes" });
  const timeLeft = el("p", { class: "time-left" });
  let shown = "";
  return {
    root: el("div", { class: "who" }, requirement, list, timeLeft),
    draw(approval: ApprovalInfo): void {
      setText(requirement, formatRequirement(approval));
      const leftMs = Date.parse(approval.expiresAt) - Date.now();
      setText(timeLeft, approval.status === "pending" ? formatTimeLeft(leftMs) : "");
      const next = JSON.stringify(approval.votes);
      if (shown !== next) list.replaceChildren(...approval.votes.map(drawVote));
      shown = next;
    },
  };
}

function drawVote(vote: ApprovalInfo["votes"][number]): HTMLElement {
  const { approverId, decision, reason, lasting, at } = vote;
  const verb = say(decision === "approve" ? "approved" : "rejected");
  const atMs = Date.parse(at);
  const when = Number.isFinite(atMs) ? `, ${formatTime(atMs)}` : "";
  const why = typeof reason === "string" ? `: ${reason}` : "";
  const more =
    typeof lasting?.calls === "number"
      ? say("; consented to {calls}", { calls: countCalls(lasting.calls) })
      : "";
  return el("li", {}, el("bdi", {}, approverId), ` ${verb}${when}${more}`, el("bdi", {}, why));
}

function countCalls(calls: number): string {
  return calls === 1 ? say("1 more call") : say("{calls} more calls", { calls });
}
