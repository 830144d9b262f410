import type { ApprovalRecord, ApprovalVote } from "../../src/protocol/approval/record.ts";
import { PATTERN_DEFAULTS, type ApprovalPattern } from "../../src/protocol/approval/requirement.ts";
import { summarise, viewApproval } from "../../src/protocol/approval/view.ts";
import type { ApprovalAsks } from "../../src/protocol/approval/question.ts";
import type { ConfirmationPacket } from "../../src/protocol/approval/packet.ts";
import type {
  ActorId,
  ApprovalId,
  RunId,
  ToolCallId,
  ToolId,
} from "../../src/protocol/identity/ids.ts";
import type { JsonObject } from "../../src/protocol/json/value.ts";
import { PACKET } from "../shared/packets.ts";

const RUN = "run_1" as RunId;

/** The parts of an approval that a test can set. */
export interface ApprovalOptions {
  readonly id?: string;
  readonly pattern?: ApprovalPattern;
  /** The patterns of several rules. */
  readonly patterns?: readonly ApprovalPattern[];
  readonly packet?: Partial<ConfirmationPacket>;
  readonly asks?: ApprovalAsks;
  readonly ttlMs?: number;
  /** The part index of the call. */
  readonly part?: number;
}

/** Creates an approval as the server stores it. */
export function createApproval(options: ApprovalOptions = {}): ApprovalRecord {
  const { id = "appr_a_b_1_1", pattern = "operator_review", ttlMs = 600_000, part = 0 } = options;
  const { patterns = [pattern] } = options;
  const now = Date.now();
  const expiresAtMs = now + ttlMs;
  const expiresAt = new Date(expiresAtMs).toISOString();
  const packet = {
    ...PACKET,
    riskClass: "MEDIUM_RISK_WRITE",
    expiresAt,
    ...options.packet,
  } as const;
  return {
    id: id as ApprovalId,
    invocation: 1,
    generation: 1,
    toolCallId: `call_${part}` as ToolCallId,
    part,
    toolId: packet.actionName.tool as ToolId,
    toolVersion: packet.actionName.version,
    ...(options.asks && { asks: options.asks }),
    payloadHash: `sha256:${"ab".repeat(32)}`,
    pin: { revision: 1, hash: "sha256:1" },
    requester: "user:cleo" as ActorId,
    actorId: "user:cleo" as ActorId,
    requirements: patterns.map((one) => PATTERN_DEFAULTS[one]),
    bounds: {
      connectionId: null,
      runLimits: {},
      tenantLimits: {},
      rateLimit: null,
      callers: [],
      data: [],
      dataFlow: [],
      costCaps: [],
    },
    termsHash: "sha256:terms",
    packet,
    status: "pending",
    votes: [],
    askedAtMs: now,
    expiresAtMs,
  };
}

/** Creates one person's vote. */
export function vote(
  by: string,
  decision: ApprovalVote["decision"],
  reason?: string,
): ApprovalVote {
  const said = reason === undefined ? {} : { reason };
  return {
    approverId: by as ActorId,
    roles: ["operator", "approver"],
    decision,
    atMs: Date.now(),
    ...said,
  };
}

/** A response of the fake API. */
export interface Reply {
  readonly status: number;
  readonly body: object;
}

type Decided = JsonObject & { readonly decision: "approve" | "reject" };

/** A fake of the API's approvals. The test decides who may do what. */
export class ScriptedApprovals {
  readonly #records = new Map<string, ApprovalRecord>();
  /** The code of why the caller may not decide; undefined when they may. */
  mayNot: string | undefined;
  /** When set, this answers decisions instead. */
  onDecide: ((id: string, decision: Decided) => Reply) | undefined;
  /** What the caller may consent to beyond one call. */
  lasting: JsonObject | undefined;
  /** The number of approvals per page. */
  pageSize = 50;

  put(record: ApprovalRecord): ApprovalRecord {
    this.#records.set(record.id, record);
    return record;
  }

  get(id: string): ApprovalRecord {
    const record = this.#records.get(id);
    if (!record) throw new Error(`no approval ${id}`);
    return record;
  }

  view(id: string): object {
    const may = this.mayNot === undefined;
    const record = this.get(id);
    const said = record.votes.find(({ approverId }) => approverId === "user:me")?.decision;
    return {
      ...viewApproval(RUN, record),
      ...(said && { said }),
      mayDecide: may && record.status === "pending",
      ...(!may && { mayNot: this.mayNot }),
      ...(may && this.lasting && { lasting: this.lasting }),
    };
  }

  /** Answers a request; undefined for one that is not about approvals. */
  answer(method: string, url: string, body: string): Reply | undefined {
    const { pathname, searchParams } = new URL(url, "http://localhost");
    const [, id = "", what] = /^\/v1\/approvals(?:\/([^/]+))?(?:\/(\w+))?$/.exec(pathname) ?? [];
    if (!pathname.startsWith("/v1/approvals")) return undefined;
    if (method === "POST" && id === "decisions") return this.#decideMany(JSON.parse(body) as never);
    if (method === "POST" && what === "decisions")
      return this.#decide(id, JSON.parse(body) as Decided);
    if (id === "") return this.#list(searchParams);
    if (this.#records.has(id)) return { status: 200, body: this.view(id) };
    return {
      status: 404,
      body: { code: "approval_not_found", title: "There is no such approval" },
    };
  }

  #list(query: URLSearchParams): Reply {
    const from = Number(query.get("cursor") ?? 0);
    const found = [...this.#records.values()]
      .filter(({ status }) => status === (query.get("status") ?? "pending"))
      .filter(({ requester }) => requester === (query.get("person") ?? requester))
      .map((record) => summarise(RUN, record));
    const next = from + this.pageSize < found.length ? String(from + this.pageSize) : undefined;
    const approvals = found.slice(from, from + this.pageSize);
    return { status: 200, body: { approvals, ...(next && { next }) } };
  }

  #decide(id: string, decided: Decided): Reply {
    const scripted = this.onDecide?.(id, decided);
    if (scripted) return scripted;
    const record = this.get(id);
    if (record.status !== "pending") {
      const title = "This approval is closed";
      return { status: 409, body: { code: "approval_closed", title, approval: this.view(id) } };
    }
    const { decision, reason } = decided;
    const said = typeof reason === "string" ? reason : undefined;
    const votes = [...record.votes, vote("user:me", decision, said)];
    const isEnough =
      decision === "reject" || votes.length >= (record.requirements[0]?.required ?? 0);
    const status = decision === "reject" ? "rejected" : isEnough ? "approved" : "pending";
    this.put({ ...record, votes, status });
    return { status: 200, body: this.view(id) };
  }

  #decideMany({ decisions }: { decisions: readonly (Decided & { approvalId: string })[] }): Reply {
    const results = decisions.map(({ approvalId, ...decision }) => {
      const { status, body } = this.#decide(approvalId, decision);
      const { code } = body as { code?: string };
      return { approvalId, status: String(status), ...(code && { code }) };
    });
    return { status: 200, body: { results } };
  }
}
