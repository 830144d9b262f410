import { createHash } from "node:crypto";

const ALL = [
  "chat",
  "chat:system",
  "runs:read",
  "runs:operate",
  "tools:read",
  "policy:read",
  "policy:write",
  "assistants:read",
  "assistants:write",
];
const TALKS = ["chat", "runs:read", "tools:read"];
const PEOPLE = ["approvals:read", "approvals:decide"];

const OWN = ["chat", "runs:read", "approvals:read"];
const PAGES = ["chat", "runs:read", ...PEOPLE];
const GOVERNS = [...ALL, ...PEOPLE, "audit:read", "people:export", "people:erase"];
const FOR_MIRA = { actorId: "agent:helper", subjectId: "user:mira" };

/** Bearer tokens of the test deployment, each of another tenant unless it says otherwise. */
export const TOKENS = {
  /** Its policy allows the core tools. */
  acme: { token: "token-of-acme", tenantId: "acme", scopes: ALL },
  /** A second tenant with the same policy. */
  rival: { token: "token-of-rival", tenantId: "rival", scopes: [...ALL, "connections:write"] },
  /** No policy document at all. */
  bare: { token: "token-of-bare", tenantId: "bare", scopes: ALL },
  /** A policy document that is garbage. */
  garbled: { token: "token-of-garbled", tenantId: "garbled", scopes: ALL },
  /** A policy that lets a run take two steps and no title. */
  strict: { token: "token-of-strict", tenantId: "strict", scopes: ALL },
  /** May read everybody's runs of acme and nothing else. */
  reader: { token: "token-of-reader", tenantId: "acme", scopes: ["runs:read", "runs:read_all"] },
  /** May start, stop and read runs of its own at acme, and nothing else. */
  peer: { token: "token-of-peer", tenantId: "acme", scopes: ["chat", "runs:read"] },
  /** May start and stop runs of acme and nothing else. */
  talker: { token: "token-of-talker", tenantId: "acme", scopes: ["chat"] },
  /** Acts for the person of acme: may start runs on their account and nothing else. */
  clerk: { token: "token-of-clerk", tenantId: "acme", scopes: ["chat"], subjectId: "user:acme" },
  /** May list tools of acme and nothing else. */
  lister: { token: "token-of-lister", tenantId: "acme", scopes: ["tools:read"] },
  /** May store connections of acme and nothing else. */
  keeper: { token: "token-of-keeper", tenantId: "acme", scopes: ["connections:write"] },
  /** May read and store the providers of acme and nothing else. */
  supplier: {
    token: "token-of-supplier",
    tenantId: "acme",
    scopes: ["providers:read", "providers:write"],
  },
  /** The same at rival. */
  rivalSupplier: {
    token: "token-of-rival-supplier",
    tenantId: "rival",
    scopes: ["providers:read", "providers:write"],
  },
  /** May read the audit log of acme and nothing else. */
  auditor: { token: "token-of-auditor", tenantId: "acme", scopes: ["audit:read"] },
  /** May read the policy of acme and nothing else. */
  onlooker: { token: "token-of-onlooker", tenantId: "acme", scopes: ["policy:read"] },
  /** May replace the policy of acme and nothing else. */
  governor: { token: "token-of-governor", tenantId: "acme", scopes: ["policy:write"] },
  /** Its policy allows some of the laboratory's tools. */
  lab: { token: "token-of-lab", tenantId: "lab", scopes: [...ALL, "connections:write"] },
  /** Its policy is what a test makes of it. */
  bendable: {
    token: "token-of-bendable",
    tenantId: "bendable",
    scopes: [...ALL, "audit:read", "metrics:read", "connections:write"],
  },
  /** Scrapes the metrics of a tenant that has no runs. */
  gauge: { token: "token-of-gauge", tenantId: "gauge", scopes: ["metrics:read"] },
  /** People of bendable. Mallory makes page tokens and reviews calls; Oscar reviews calls too. */
  victor: { token: "token-of-victor", tenantId: "bendable", scopes: PAGES },
  mallory: {
    token: "token-of-mallory",
    tenantId: "bendable",
    scopes: [...PAGES, "embed:mint"],
    roles: ["operator"],
  },
  oscar: { token: "token-of-oscar", tenantId: "bendable", scopes: PAGES, roles: ["operator"] },
  /** Somebody who acts for Victor, and could make page tokens. */
  deputy: {
    token: "token-of-deputy",
    tenantId: "bendable",
    scopes: [...PAGES, "embed:mint"],
    actorId: "user:deputy",
    subjectId: "user:victor",
  },
  /** A server that makes page tokens at bendable. */
  desk: {
    token: "token-of-desk",
    tenantId: "bendable",
    scopes: [...PAGES, "embed:mint"],
    actorId: "service:desk",
  },
  /** People of bendable who may chat and nothing else. */
  hoarder: { token: "token-of-hoarder", tenantId: "bendable", scopes: OWN },
  neighbour: { token: "token-of-neighbour", tenantId: "bendable", scopes: OWN },
  newcomer: { token: "token-of-newcomer", tenantId: "bendable", scopes: OWN },
  /** An agent on account of victor. */
  victorsAgent: {
    token: "token-of-victors-agent",
    tenantId: "bendable",
    scopes: OWN,
    actorId: "agent:helper",
    subjectId: "user:victor",
  },
  /** Runs what the archive keeps, and sees all of it. */
  archive: {
    token: "token-of-archive",
    tenantId: "archive",
    scopes: [...ALL, "connections:write", "approvals:read", "audit:read"],
  },
  /** A person of the archive, who sees what is her own. */
  mira: { token: "token-of-mira", tenantId: "archive", scopes: OWN },
  /** Another one, with a role. */
  noor: { token: "token-of-noor", tenantId: "archive", scopes: OWN, roles: ["operator"] },
  /** An agent that acts for mira. */
  mirasAgent: { token: "token-of-miras-agent", tenantId: "archive", scopes: OWN, ...FOR_MIRA },
  /** The same agent, acting for itself. */
  helper: { token: "token-of-helper", tenantId: "archive", scopes: OWN, actorId: "agent:helper" },
  /** An agent with a role, which lets no agent decide. */
  sentry: {
    token: "token-of-sentry",
    tenantId: "archive",
    scopes: OWN,
    roles: ["operator"],
    actorId: "agent:sentry",
  },
  /** Another tenant's, with every right there. */
  stranger: {
    token: "token-of-stranger",
    tenantId: "elsewhere",
    scopes: [...ALL, "approvals:read", "audit:read"],
  },
  /** People of a studio with two workspaces; a test says who is a member of which. */
  ada: { token: "token-of-ada", tenantId: "studio", scopes: GOVERNS },
  ben: { token: "token-of-ben", tenantId: "studio", scopes: OWN, roles: ["designer"] },
  /** A designer who decides what is asked. */
  kim: {
    token: "token-of-kim",
    tenantId: "studio",
    scopes: [...OWN, "approvals:decide"],
    roles: ["designer"],
  },
  cleo: { token: "token-of-cleo", tenantId: "studio", scopes: OWN },
  /** A server of the studio that makes page tokens. */
  front: {
    token: "token-of-front",
    tenantId: "studio",
    scopes: [...PAGES, "embed:mint"],
    actorId: "service:front",
  },
  /** An agent of the studio that acts for ben. */
  bensAgent: {
    token: "token-of-bens-agent",
    tenantId: "studio",
    scopes: OWN,
    actorId: "agent:ben",
    subjectId: "user:ben",
  },
  /** May export people of the studio, and nothing else. */
  archivist: { token: "token-of-archivist", tenantId: "studio", scopes: ["people:export"] },
  /** Another tenant, whose workspaces have the same ids. */
  dora: { token: "token-of-dora", tenantId: "factory", scopes: GOVERNS },
  /** A tenant in which nothing ever happened. */
  hollow: { token: "token-of-hollow", tenantId: "hollow", scopes: ["audit:read"] },
  /** Its policy admits the pages of an origin, for which its server makes tokens. */
  hosted: {
    token: "token-of-hosted",
    tenantId: "hosted",
    scopes: [...ALL, ...PEOPLE, "runs:read_all", "embed:mint", "connections:write", "audit:read"],
  },
  /** May make tokens for pages of hosted, and has nothing to hand on. */
  minter: {
    token: "token-of-minter",
    tenantId: "hosted",
    scopes: ["embed:mint"],
    actorId: "service:minter",
  },
  /** A server that makes tokens for the pages of hosted. */
  backend: {
    token: "token-of-backend",
    tenantId: "hosted",
    scopes: [...PAGES, "embed:mint", "tools:read"],
    actorId: "service:backend",
  },
  /** An agent that was given the same. */
  courier: {
    token: "token-of-courier",
    tenantId: "hosted",
    scopes: [...PAGES, "embed:mint"],
    actorId: "agent:courier",
  },
  /** The server on somebody's account. */
  proxy: {
    token: "token-of-proxy",
    tenantId: "hosted",
    scopes: [...PAGES, "embed:mint"],
    actorId: "service:backend",
    subjectId: "user:zoe",
  },
  /** A policy that is JSON, but no policy. */
  misshapen: { token: "token-of-misshapen", tenantId: "misshapen", scopes: ALL },
  /**
   * Writes the policy of the guild, whose people approve each other's calls, and sees everything.
   */
  chief: {
    token: "token-of-chief",
    tenantId: "guild",
    scopes: [...ALL, ...PEOPLE, "audit:read", "people:export"],
  },
  /** Asks for things. */
  ann: { token: "token-of-ann", tenantId: "guild", scopes: [...TALKS, ...PEOPLE] },
  /** Likewise, with tools of its own. */
  coder: {
    token: "token-of-coder",
    tenantId: "guild",
    scopes: [...TALKS, "chat:system", ...PEOPLE],
  },
  bob: { token: "token-of-bob", tenantId: "guild", scopes: PEOPLE, roles: ["operator"] },
  /** The ids of bob and eve, as another source of tokens writes them. */
  BOB: {
    token: "token-of-BOB",
    tenantId: "guild",
    scopes: PEOPLE,
    roles: ["operator"],
    actorId: "user:BOB",
  },
  EVE: {
    token: "token-of-EVE",
    tenantId: "guild",
    scopes: PEOPLE,
    roles: ["approver"],
    actorId: "user:Eve",
  },
  cat: { token: "token-of-cat", tenantId: "guild", scopes: PEOPLE, roles: ["approver"] },
  /** The id of cat, who has lost her role. */
  formerCat: {
    token: "token-of-former-cat",
    tenantId: "guild",
    scopes: PEOPLE,
    actorId: "user:cat",
  },
  cashier: { token: "token-of-cashier", tenantId: "guild", scopes: PEOPLE, roles: ["clerk"] },
  controller: {
    token: "token-of-controller",
    tenantId: "guild",
    scopes: PEOPLE,
    roles: ["controller"],
  },
  dan: { token: "token-of-dan", tenantId: "guild", scopes: PEOPLE, roles: ["compliance"] },
  /** Asks for things and approves those of others. */
  eve: {
    token: "token-of-eve",
    tenantId: "guild",
    scopes: [...TALKS, ...PEOPLE],
    roles: ["operator", "approver", "compliance"],
  },
  /** The person of ann, with a token that decides nothing. */
  speaker: { token: "token-of-speaker", tenantId: "guild", scopes: TALKS, actorId: "user:ann" },
  /** A program with every role. */
  bot: {
    token: "token-of-bot",
    tenantId: "guild",
    scopes: [...TALKS, ...PEOPLE],
    roles: ["operator", "approver", "compliance"],
    actorId: "agent:bot",
  },
  /** The same program on account of ann. */
  aide: {
    token: "token-of-aide",
    tenantId: "guild",
    scopes: [...TALKS, ...PEOPLE],
    roles: ["operator", "approver"],
    actorId: "user:aide",
    subjectId: "user:ann",
  },
  /** Two agents on account of ann. */
  scribe: {
    token: "token-of-scribe",
    tenantId: "guild",
    scopes: [...TALKS, ...PEOPLE],
    actorId: "agent:scribe",
    subjectId: "user:ann",
  },
  porter: {
    token: "token-of-porter",
    tenantId: "guild",
    scopes: [...TALKS, ...PEOPLE],
    actorId: "agent:porter",
    subjectId: "user:ann",
  },
  /** The first of them on account of eve. */
  evesScribe: {
    token: "token-of-eves-scribe",
    tenantId: "guild",
    scopes: [...TALKS, ...PEOPLE],
    actorId: "agent:scribe",
    subjectId: "user:eve",
  },
  /** An agent on account of ann that may read and stop everybody's runs. */
  warden: {
    token: "token-of-warden",
    tenantId: "guild",
    scopes: [...TALKS, "runs:operate"],
    actorId: "agent:warden",
    subjectId: "user:ann",
  },
  /** Has every role in another tenant. */
  outsider: {
    token: "token-of-outsider",
    tenantId: "rival",
    scopes: [...ALL, ...PEOPLE],
    roles: ["operator", "approver", "compliance"],
  },
} as const;

interface TestToken {
  readonly token: string;
  readonly tenantId: string;
  readonly actorId?: string;
  readonly subjectId?: string;
  readonly scopes: readonly string[];
  readonly roles?: readonly string[];
}

/** The API_TOKENS secret of the test deployment. */
export function apiTokensSecret(): string {
  return JSON.stringify(
    Object.entries<TestToken>(TOKENS).map(([name, { token, ...principal }]) => {
      const sha256 = createHash("sha256").update(token).digest("hex");
      return Object.assign({ sha256, actorId: `user:${name}` }, principal);
    }),
  );
}

/** The CONNECTION_KEYS secret of the test deployment. */
export function connectionKeysSecret(): string {
  return JSON.stringify([{ id: "test", key: Buffer.alloc(32, "k").toString("base64") }]);
}
