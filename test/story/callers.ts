import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "vitest";
import type { AuditRecord } from "../../src/protocol/audit/chain.ts";
import type { House } from "./house.ts";
import type { Citizen, Town } from "./town.ts";

const TALKS = "chat runs:read approvals:read approvals:decide";
const DECIDES = "approvals:read approvals:decide";
const GOVERNS = "policy:read policy:write audit:read embed:mint connections:write";

const CITIZENS = {
  ann: { tenant: "guild", sub: "ann", scope: TALKS },
  bob: { tenant: "guild", sub: "bob", scope: DECIDES, roles: ["operator"] },
  cat: { tenant: "guild", sub: "cat", scope: DECIDES, roles: ["approver"] },
  dan: { tenant: "guild", sub: "dan", scope: DECIDES, roles: ["compliance"] },
  fay: { tenant: "guild", sub: "fay", scope: "runs:read runs:read_all audit:read" },
  eve: { tenant: "rival", sub: "eve", scope: TALKS, roles: ["operator", "approver"] },
  guild: { tenant: "guild", sub: "service:guild", scope: GOVERNS },
  rival: { tenant: "rival", sub: "service:rival", scope: `${TALKS} ${GOVERNS}` },
} as const satisfies Readonly<Record<string, Citizen>>;
type Name = keyof typeof CITIZENS;

/** The people of the story and a server of each tenant, without a browser. */
export class Callers {
  readonly tokens: Readonly<Record<Name, string>>;
  readonly #house: House;

  private constructor(house: House, tokens: Callers["tokens"]) {
    this.#house = house;
    this.tokens = tokens;
  }

  /** Signs all people in. */
  static async signIn(town: Town, house: House): Promise<Callers> {
    const names = Object.keys(CITIZENS) as readonly Name[];
    const signed = names.map(async (name) => [name, await town.sign(CITIZENS[name])] as const);
    return new Callers(house, Object.fromEntries(await Promise.all(signed)) as Callers["tokens"]);
  }

  /** Sends a request as one person: a GET, or with a body a POST. */
  send(name: Name, path: string, body?: object): Promise<Response> {
    return this.#fetch(name, path, {
      ...(body && { method: "POST", body: JSON.stringify(body) }),
    });
  }

  async putConnection(tenant: "guild", id: string, connection: object): Promise<void> {
    const body = JSON.stringify(connection);
    const answer = await this.#fetch(tenant, `/v1/connections/${id}`, { method: "PUT", body });
    expect(answer.status).toBe(204);
  }

  async putPolicy(tenant: "guild" | "rival", policy: object): Promise<void> {
    const body = JSON.stringify(policy);
    const answer = await this.#fetch(tenant, "/v1/policy", { method: "PUT", body });
    expect([answer.status, await answer.text()]).toMatchObject([200, expect.any(String)]);
  }

  /** Makes a token for Eve's page on another origin, as the server of that page does. */
  async mintForEve(origin: string): Promise<string> {
    const answer = await this.send("rival", "/v1/embed-tokens", {
      origin,
      actorId: "user:eve",
      toolIds: ["mail__send_offer"],
      scopes: TALKS.split(" "),
    });
    return (await answer.json<{ token: string }>()).token;
  }

  /** Waits until a run of Ann waits for an approval, and returns the approval. */
  async questionOf(runId: string): Promise<string> {
    let found: string | undefined;
    const look = async (): Promise<string | undefined> => {
      const state = await this.send("ann", `/v1/runs/${runId}`);
      const { toolCalls } = await state.json<{ toolCalls: readonly { approvalId?: string }[] }>();
      found = toolCalls.find(({ approvalId }) => approvalId)?.approvalId;
      return found;
    };
    await expect.poll(look).toBeDefined();
    return found ?? "none";
  }

  /** Exports a tenant's audit log, and checks its chain with `npm run audit:verify`. */
  async exportAudit(
    tenant: "guild" | "rival",
  ): Promise<{ readonly text: string; readonly records: readonly AuditRecord[] }> {
    const answer = await this.send(tenant, "/v1/audit?format=jsonl");
    const text = await answer.text();
    const file = join(this.#house.scratch, `${tenant}.jsonl`);
    writeFileSync(file, text);
    const head = answer.headers.get("x-audit-head") ?? "none";
    const verify = ["run", "-s", "audit:verify", "--", file, "--head", head];
    const { stdout } = await promisify(execFile)("npm", verify);
    expect(stdout).toMatch(/^The chain holds/);
    const lines = text.trim().split("\n");
    const records = lines.map((line) => JSON.parse(line) as Partial<AuditRecord>);
    return { text, records: records.filter((record) => record.entry) as readonly AuditRecord[] };
  }

  #fetch(name: Name, path: string, init: RequestInit): Promise<Response> {
    const authorization = `Bearer ${this.tokens[name]}`;
    // Every PUT creates a new resource.
    const first = init.method === "PUT" && { "if-none-match": "*" };
    const headers = { "content-type": "application/json", authorization, ...first };
    return fetch(`${this.#house.url}${path}`, { ...init, headers });
  }
}
