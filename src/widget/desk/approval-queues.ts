import { say, type Text } from "../texts/say.ts";
import { ApprovalCard } from "../approval/card.ts";
import { type ApprovalInfo, joinNews } from "../approval/info.ts";
import { formatRisk, formatStatus, formatTimeLeft } from "../approval/labels.ts";
import type { ApprovalQuery, QueueApi } from "../approval/queue-api.ts";
import { APPROVAL_PATTERNS, type ApprovalPattern } from "../../protocol/approval/requirement.ts";
import type { Entry, OpenEntry, OpenPorts, QueueSpec } from "./queue-spec.ts";

const SHOWS: Readonly<Record<string, readonly [name: Text, query: ApprovalQuery]>> = {
  decidable: ["I can decide", { status: "pending", decidable: true }],
  pending: ["All pending", { status: "pending" }],
  mine: ["My requests", { status: "pending", mine: true }],
  approved: ["Approved", { status: "approved", sort: "newest" }],
  rejected: ["Rejected", { status: "rejected", sort: "newest" }],
  expired: ["Expired", { status: "expired", sort: "newest" }],
};

const KINDS: Readonly<Record<ApprovalPattern, Text>> = {
  user_consent: "Consent of the person",
  operator_review: "Review by another person",
  dual_control: "Several people",
  compliance: "Compliance",
  async_review: "Review of many at once",
};

/** Calls that wait for a decision. */
export function approvalsQueue(api: QueueApi): QueueSpec<ApprovalInfo> {
  return {
    ...specOf(api, false),
    name: "approvals",
    title: say("Approvals"),
    kinds: Object.entries(KINDS).map(([kind, name]) => [kind, say(name)] as const),
    none: say("This list has no approvals."),
    keys: [say("approve; press it twice where money may move"), say("reject; likewise")],
  };
}

/** Runs that wait for a higher limit. */
export function budgetQueue(api: QueueApi): QueueSpec<ApprovalInfo> {
  return {
    ...specOf(api, true),
    name: "budget",
    title: say("Budget requests"),
    kinds: [],
    none: say("No run waits for a higher limit."),
    keys: [say("raise the limit; press it twice"), say("refuse; press it twice")],
  };
}

function specOf(
  api: QueueApi,
  isRaise: boolean,
): Pick<QueueSpec<ApprovalInfo>, "shows" | "read" | "describe" | "open"> {
  return {
    shows: Object.entries(SHOWS).map(([show, [name]]) => [show, say(name)]),
    async read({ show, kind, ...query }) {
      const pattern = APPROVAL_PATTERNS.find((known) => known === kind);
      const page = await api.list({ ...SHOWS[show]?.[1], ...query, ...(pattern && { pattern }) });
      if (!page.ok) return page;
      const items = page.value.items.filter(({ asks }) => (asks === "raise") === isRaise);
      return { ok: true, value: { ...page.value, items } };
    },
    describe,
    open: (approval, ports) => openApproval(api, approval, ports),
  };
}

function describe(approval: ApprovalInfo): Entry {
  const { approvalId: id, title, requestedBy, riskClass, status } = approval;
  const leftMs = Date.parse(approval.expiresAt) - Date.now();
  return {
    id,
    name: title,
    facts: [requestedBy, formatStatus(status) || formatTimeLeft(leftMs)].filter(Boolean),
    risk: { className: riskClass, label: formatRisk(riskClass) },
    status,
    kinds: approval.requirements.map(({ pattern }) => pattern),
    since: approval.requestedAt,
    canSelect: maySelect(approval),
  };
}

/** A critical call is always decided on its own. */
function maySelect({ requirements, riskClass, status }: ApprovalInfo): boolean {
  const isBulk = requirements.every((rule) => rule.isBulk) && riskClass !== "CRITICAL_MUTATION";
  return isBulk && status === "pending";
}

function openApproval(
  api: QueueApi,
  first: ApprovalInfo,
  { onNews }: OpenPorts<ApprovalInfo>,
): OpenEntry<ApprovalInfo> {
  let known = first;
  const onChange = (news: ApprovalInfo): void => {
    known = joinNews(known, news);
    onNews(news);
  };
  const card = new ApprovalCard({ api, isStreamed: false, onChange }, first);
  card.root.querySelector(".sign .primary")?.setAttribute("aria-keyshortcuts", "a");
  card.root.querySelector(".sign .reject")?.setAttribute("aria-keyshortcuts", "r");
  return {
    root: card.root,
    // The card reads by itself what became of an approval that left the list.
    update: (news) => news && card.update(news),
    needsSecondPress: () => mayMoveMoney(known),
  };
}

/** Fails closed: a call that leaves the house, a limit, and any rule with amounts. */
function mayMoveMoney({ asks, riskClass, requirements }: ApprovalInfo): boolean {
  const isHarmless = riskClass !== "HIGH_RISK_EXTERNAL" && riskClass !== "CRITICAL_MUTATION";
  return asks === "raise" || !isHarmless || requirements.some((rule) => rule.withinLimit);
}
