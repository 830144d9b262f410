import * as v from "valibot";
import type { ToolCapabilities } from "../../src/capabilities/tool.ts";
import { defineTool } from "../../src/contracts/define-tool.ts";
import type { AnyToolContract } from "../../src/contracts/definition.ts";
import { ok } from "../../src/protocol/outcome/result.ts";
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

/** Tries to write where only reads are allowed. */
export const writeToShop = async (http: ToolCapabilities["http"]): Promise<unknown> => {
  const sent = await http.send({ method: "POST", url: `${SHOP}/orders`, body: { what: "ink" } });
  return { kind: sent.ok ? "verified" : "unknown" };
};

export const LAB_VERIFICATION: readonly AnyToolContract[] = [post];
