import * as v from "valibot";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import type { AnyToolContract } from "../../src/contracts/define/definition.ts";
import { fail, ok } from "../../src/protocol/outcome/result.ts";
import { holdUrl } from "../fakes/scripted-model.ts";
import { beforeEachFile } from "../shared/fresh-state.ts";
import { moved } from "./lab-approvals.ts";

const OPEN = { price: 10.46, queue: 3, cost: 7, preview: "answers", previews: 0 };

/** A shop whose price changes while people decide. `queue` may change, `cost` nobody sees. */
export const shop: {
  price: number;
  queue: number;
  cost: number;
  /** What the preview does; `rises` raises the price each time, `holds` waits for a release. */
  preview: "answers" | "throws" | "rises" | "holds";
  previews: number;
} = { ...OPEN, preview: "answers" };

/** Opens the shop as it was at first. */
export function openShop(): void {
  Object.assign(shop, OPEN);
}
beforeEachFile(openShop);

async function preview({ pieces = 1 }: { readonly pieces?: number | undefined }) {
  shop.previews += 1;
  if (shop.preview === "throws") throw new Error("the shop is closed");
  if (shop.preview === "holds") await fetch(holdUrl("shop"));
  if (shop.preview === "rises") shop.price += 1;
  const { price, queue, cost } = shop;
  return { before: { price, queue, cost }, after: { refund: price * pieces } };
}

const common = {
  version: "1.0.0",
  input: v.strictObject({ order: v.string(), pieces: v.optional(v.number()) }),
  output: v.strictObject({ paid: v.number() }),
  redaction: {
    args: ["order", "pieces"],
    output: ["paid"],
    state: ["price", "queue", "refund"],
  },
  capabilities: [],
  preview,
  mayDrift: { queue: "the queue says nothing about this order" },
  execute({ order, pieces = 1 }: { readonly order: string; readonly pieces?: number | undefined }) {
    moved.push(`${shop.price * pieces} for ${order}`);
    return ok({ paid: shop.price * pieces });
  },
} as const;

const LOST = { field: null, code: "lost", message: "the answer was lost" };

/** Keys under which the shop has paid. */
const paidUnder = new Set<string>();

/**
 * Pays back what an order costs now, and changes the price when its answer is lost. The text for
 * people names the price and the queue.
 */
const refund = defineTool({
  ...common,
  name: "lab__refund",
  description: "Refunds an order. The person who asks has to approve it.",
  sideEffectClass: "HIGH_RISK_EXTERNAL",
  effect: "external_side_effect",
  transactional: { semantics: "irreversible_pivot" },
  idempotency: { supported: true },
  runtime: { maxRetries: 1 },
  errors: { lost: "DEPENDENCY_UNAVAILABLE" },
  describe({ order }, before) {
    const [price, queue] = ["price", "queue"].map((name) => JSON.stringify(before?.[name]));
    return {
      action: `Refund ${order}`,
      consequence: `${price} EUR leave, ${queue} people wait.`,
    };
  },
  verification: {
    delaySeconds: 3_600,
    expect: ({ order }) => ({ reference: `orders/${order}`, state: { refund: 1 } }),
  },
  verify: () => Promise.resolve({ kind: "verified" }),
  execute({ order, pieces = 1 }, _context, { idempotencyKey }) {
    if (!paidUnder.has(idempotencyKey)) {
      paidUnder.add(idempotencyKey);
      moved.push(`${shop.price * pieces} for ${order}`);
      if (order === "lost") {
        shop.price = 0;
        return fail({ taxonomyClass: "DEPENDENCY_UNAVAILABLE", errors: [LOST] });
      }
    }
    return ok({ paid: shop.price * pieces });
  },
});

const sell = defineTool({
  ...common,
  name: "lab__sell",
  description: "Sells an order. It can be taken back, if people agree.",
  sideEffectClass: "LOW_RISK_INTERNAL",
  effect: "state_change",
  transactional: { compensationTool: "lab__take_back" },
  compensate: ({ order }) => ({ order }),
});

const takeBack = defineTool({
  ...common,
  name: "lab__take_back",
  description: "Takes an order back at its price of now.",
  sideEffectClass: "MEDIUM_RISK_WRITE",
  effect: "state_change",
  transactional: { confirmationRequired: true, semantics: "irreversible_pivot" },
  idempotency: { supported: true },
  shownToModel: false,
  describe: ({ order }) => ({ action: `Take back ${order}`, consequence: "The money leaves." }),
});

/** Pays back without asking anybody. Its amount is a value of the shop, not of the model. */
const settle = defineTool({
  ...common,
  name: "lab__pay_order",
  description: "Settles an order.",
  sideEffectClass: "MEDIUM_RISK_WRITE",
  effect: "external_side_effect",
  transactional: { semantics: "irreversible_pivot" },
  amountField: { preview: "/after/refund" },
});

export const LAB_SHOP: readonly AnyToolContract[] = [refund, sell, takeBack, settle];
