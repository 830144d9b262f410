import * as v from "valibot";
import type { ToolCapabilities } from "../../src/capabilities/tool.ts";
import { defineSaga } from "../../src/contracts/define/define-saga.ts";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import type { AnyToolContract } from "../../src/contracts/define/definition.ts";
import { fail, ok } from "../../src/protocol/outcome/result.ts";
import type { Verification } from "../../src/protocol/outcome/verification.ts";
import { SHOP } from "../fakes/shop.ts";
import { beforeEachFile } from "../shared/fresh-state.ts";

/** What `lab__post` hung on the wall, by topic. */
export const wall = new Map<string, string>();
/** How often the state of a topic was read. */
export const reads = new Map<string, number>();
/** How the read of a topic behaves, where it is not an honest one. */
export const readers = new Map<string, (http: ToolCapabilities["http"]) => unknown>();
beforeEachFile(() => {
  wall.clear();
  reads.clear();
  readers.clear();
});

/** A write whose state is read again at once. */
const post = defineTool({
  name: "lab__post",
  version: "1.0.0",
  description: "Hangs a notice on the wall.",
  input: v.strictObject({
    topic: v.pipe(v.string(), v.maxLength(100)),
    pin: v.optional(v.string()),
    // Behaviour of the expectation. By default it is honest.
    expects: v.optional(v.picklist(["throws", "nothing", "cycle", "leaks"])),
  }),
  output: v.strictObject({ text: v.string(), secret: v.string() }),
  sideEffectClass: "MEDIUM_RISK_WRITE",
  effect: "external_side_effect",
  transactional: { semantics: "irreversible_pivot" },
  redaction: { args: ["topic"], output: ["text"], state: ["text"] },
  capabilities: ["http"],
  security: { egressPolicy: "allowlisted_domains", egressHosts: ["shop.test"] },
  idempotency: { supported: true },
  verification: {
    delaySeconds: 0,
    expect({ topic, pin, expects }, { text, secret }) {
      if (expects === "throws") throw new Error("no expectation");
      const state: Record<string, string> = { text, secret };
      const reference = `wall/${topic}${pin === undefined ? "" : `?pin=${pin}`}`;
      if (expects === "leaks") return { reference: `wall/${secret}`, state };
      if (expects === "nothing") return { reference: "", state };
      if (expects === "cycle") Object.assign(state, { state });
      return { reference, state };
    },
  },
  async verify({ topic }, { state }, _context, { http }) {
    reads.set(topic, (reads.get(topic) ?? 0) + 1);
    const reader = readers.get(topic);
    // A careless author may answer anything.
    if (reader) return (await reader(http)) as Verification;
    const text = wall.get(topic) ?? "";
    if (text === state["text"]) return { kind: "verified" };
    return { kind: "mismatch", found: { text, secret: "found-secret" } };
  },
  execute({ topic }) {
    wall.set(topic, `notice about ${topic}`);
    return ok({ text: `notice about ${topic}`, secret: "output-secret" });
  },
});

/** Topics whose notice cannot be taken down, and pairs that cannot be stamped. */
export const stuck = new Set<string>();
beforeEachFile(() => stuck.clear());

const topicOnly = v.strictObject({ topic: v.pipe(v.string(), v.maxLength(100)) });
const paper = {
  version: "1.0.0",
  input: topicOnly,
  output: v.strictObject({ text: v.string() }),
  sideEffectClass: "LOW_RISK_INTERNAL",
  effect: "state_change",
  redaction: { args: ["topic"], output: ["text"] },
  capabilities: [],
  idempotency: { supported: true },
  transactional: { compensationTool: "lab__take_down" },
} as const;

/** Takes down every notice whose topic begins so. The person who asks has to agree. */
const takeDown = defineTool({
  ...paper,
  name: "lab__take_down",
  description: "Takes notices down.",
  transactional: { confirmationRequired: true, semantics: "idempotent_write" },
  describe: ({ topic }) => ({ action: "Take down", consequence: `${topic} goes.` }),
  shownToModel: false,
  execute({ topic }) {
    if (stuck.has(topic)) return fail({ taxonomyClass: "SEMANTIC_INVALIDITY", errors: [] });
    for (const hung of wall.keys()) if (hung.startsWith(topic)) wall.delete(hung);
    return ok({ text: topic });
  },
});

/** A write that can be undone, and whose state is read an hour later. */
const hang = defineTool({
  ...paper,
  name: "lab__hang",
  description: "Hangs a notice that can be taken down.",
  redaction: { ...paper.redaction, state: ["text"] },
  compensate: ({ topic }) => ({ topic }),
  verification: {
    delaySeconds: 3_600,
    expect: ({ topic }, { text }) => ({ reference: `wall/${topic}`, state: { text } }),
  },
  async verify({ topic }, { state }) {
    reads.set(topic, (reads.get(topic) ?? 0) + 1);
    const reader = readers.get(topic) as (() => Promise<Verification>) | undefined;
    if (reader) return reader();
    return { kind: wall.get(topic) === state["text"] ? "verified" : "mismatch" };
  },
  execute({ topic }) {
    wall.set(topic, `notice about ${topic}`);
    return ok({ text: `notice about ${topic}` });
  },
});

const stamp = defineTool({
  ...paper,
  name: "lab__stamp",
  description: "Stamps what hangs.",
  transactional: { semantics: "irreversible_pivot" },
  shownToModel: false,
  execute: ({ topic }) =>
    stuck.has(topic)
      ? fail({ taxonomyClass: "SEMANTIC_INVALIDITY", errors: [] })
      : ok({ text: topic }),
});

/** Hangs a notice and stamps it; a person may take the whole back. */
const hangStamped = defineSaga({
  name: "lab__hang_stamped",
  version: "1.0.0",
  description: "Hangs a notice, stamped.",
  input: topicOnly,
  output: paper.output,
  sideEffectClass: "LOW_RISK_INTERNAL",
  effect: "state_change",
  redaction: paper.redaction,
  transactional: paper.transactional,
  compensate: ({ topic }) => ({ topic }),
  steps: [
    { tool: hang, arguments: ({ topic }) => ({ topic: `${topic} page` }) },
    { tool: stamp, arguments: ({ topic }) => ({ topic }) },
  ],
  result: (_args, results) => results.of(hang),
});

/** A risky write: the person who asks has to agree, and its state is read at once. */
const announce = defineTool({
  ...paper,
  name: "lab__announce",
  description: "Shows a notice to everybody.",
  sideEffectClass: "HIGH_RISK_EXTERNAL",
  effect: "external_side_effect",
  redaction: { ...paper.redaction, state: ["text"] },
  transactional: { semantics: "irreversible_pivot" },
  describe: ({ topic }) => ({ action: "Announce", consequence: `Everybody reads ${topic}.` }),
  shownToModel: false,
  verification: {
    delaySeconds: 0,
    expect: ({ topic }, { text }) => ({ reference: `wall/${topic}`, state: { text } }),
  },
  async verify({ topic }, { state }) {
    return { kind: wall.get(topic) === state["text"] ? "verified" : "mismatch" };
  },
  execute({ topic }) {
    wall.set(topic, `notice about ${topic}`);
    return ok({ text: `notice about ${topic}` });
  },
});

/** Hangs a notice and announces it. As risky as its riskiest step. */
const hangAndAnnounce = defineSaga({
  name: "lab__hang_and_announce",
  version: "1.0.0",
  description: "Hangs a notice and announces it.",
  input: topicOnly,
  output: paper.output,
  sideEffectClass: "HIGH_RISK_EXTERNAL",
  effect: "external_side_effect",
  redaction: paper.redaction,
  transactional: { semantics: "irreversible_pivot" },
  describe: ({ topic }) => ({
    action: "Announce",
    consequence: `${topic} hangs and is published.`,
  }),
  steps: [
    { tool: hang, arguments: ({ topic }) => ({ topic: `${topic} page` }) },
    { tool: announce, arguments: ({ topic }) => ({ topic }) },
  ],
  result: (_args, results) => results.of(announce),
});

/** Tries to write where only reads are allowed. */
export const writeToShop = async (http: ToolCapabilities["http"]): Promise<unknown> => {
  const sent = await http.send({ method: "POST", url: `${SHOP}/orders`, body: { what: "ink" } });
  return { kind: sent.ok ? "verified" : "unknown" };
};

export const LAB_VERIFICATION: readonly AnyToolContract[] = [
  post,
  takeDown,
  hang,
  stamp,
  hangStamped,
  announce,
  hangAndAnnounce,
];
