import type { HttpClient } from "../../../src/capabilities/http.ts";
import * as v from "valibot";
import { fail, ok } from "../../../src/protocol/outcome/result.ts";
import { AS_READ, noteTool } from "../../shared/tools.ts";

/** A tool that undoes others. */
export const UNDO = noteTool({ name: "test__undo", idempotency: { supported: true } }).tool;

export const failing = (taxonomyClass: string, code = "gone") =>
  fail({
    taxonomyClass: taxonomyClass as "TIMEOUT",
    retryAfterMs: 1,
    errors: [{ field: null, code, message: "as told" }],
  });
export const answering = (answer: unknown): object => ({ execute: () => answer });

export const BROKEN = answering(failing("UNKNOWN_ERROR"));
export const CONTENT = answering({
  ...ok({ text: "" }),
  content: [{ type: "text", text: "more" }],
});
export const DETAILS = {
  ...answering({ ...ok({ text: "" }), details: { text: "more" } }),
  details: v.strictObject({ text: v.string() }),
  redaction: { args: ["text"], output: ["text"], details: ["text"] },
};
export const HIDDEN = answering(ok({ text: "a\u200bb" }));
export const HANGING = { ...AS_READ, execute: () => new Promise(() => {}) };
export const KEYED_FOR_A_SECOND = { idempotency: { supported: true, ttlSeconds: 1 } };
export const DOWN = answering(failing("DEPENDENCY_UNAVAILABLE"));
export const KEYED = { idempotency: { supported: true } };
export const SHOP = {
  capabilities: ["http"],
  security: { egressPolicy: "allowlisted_domains", upstreams: ["desk"] },
  execute: async (_: unknown, _context: unknown, { http }: { readonly http: HttpClient }) => {
    const to = { upstream: "desk", path: ["a"] } as const;
    const elsewhere = { method: "GET", url: "https://rates.example/a" } as const;
    const sent = [await http.send(elsewhere), await http.send({ method: "POST", ...to })];
    return ok({ text: sent.map((one) => (one.ok ? "sent" : "refused")).join(" ") });
  },
};
export const RATES = {
  ...SHOP,
  security: { egressPolicy: "allowlisted_domains", egressHosts: ["rates.example"] },
};
export const PREVIEW = {
  redaction: { args: ["text"], output: ["text"], state: ["status"] },
  preview: async () => ({ before: { status: "open" }, after: null }),
};
export const VERIFIED = {
  redaction: PREVIEW.redaction,
  verification: { delaySeconds: 5, expect: () => ({ reference: "r", state: { status: "paid" } }) },
  verify: async () => ({ kind: "verified" }),
};
export const UNDOABLE = {
  ...KEYED,
  transactional: { compensationTool: UNDO.name },
  compensate: ({ text }: { readonly text: string }) => ({ text }),
};
