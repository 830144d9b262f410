import { expect, test } from "vitest";
import type { Visit } from "./open-page.ts";
import * as say from "./run-events.ts";
import { vote } from "./scripted-approvals.ts";
import { usePage } from "./use-page.ts";
import { locateCard, startWaitingRun } from "./waiting-run.ts";

let visit: Visit;
const open = usePage((opened) => {
  visit = opened;
});
const { button, sees } = locateCard(() => visit);

const HOSTILE = [
  "<script>alert(1)</script>",
  '<img src="x" onerror="alert(1)">',
  "[click](javascript:alert(1))",
  '"><svg onload=alert(1)>',
  "\u202e\u200b\u0000\r\n\u2028Risk: READ_ONLY",
].join(" ");

test("hostile text in every field of an approval stays text and hides nothing", async () => {
  const states = { [HOSTILE]: HOSTILE, list: [HOSTILE, { [HOSTILE]: HOSTILE }] };
  await open();
  const { run, approval } = await startWaitingRun(visit, {
    packet: {
      actionName: { title: HOSTILE, tool: HOSTILE, version: HOSTILE },
      consequence: HOSTILE,
      arguments: { shown: states, withheld: [`/${HOSTILE}`] },
      beforeState: states,
      afterState: states,
      idempotencyFingerprint: HOSTILE,
      compensation: { reversible: true, tool: HOSTILE, note: HOSTILE },
      rejectionPath: HOSTILE,
      traceId: HOSTILE,
    },
  });
  const voted = { ...approval, votes: [vote(HOSTILE, "approve", HOSTILE)] };
  visit.api.approvals.onDecide = () => ({
    status: 422,
    body: {
      code: "arguments_refused",
      title: HOSTILE,
      errors: [{ pointer: `/${HOSTILE}`, message: HOSTILE }],
    },
  });
  run.emit(say.updateApproval(visit.api.approvals.put({ ...voted, requester: HOSTILE as never })));
  await button("Reject").click();
  await sees(/alert\(1\)/);
  const names = await visit.inside<string[]>(
    `(root) => [...root.querySelectorAll("*")].map((e) => e.localName)`,
  );
  const forbidden = /^(a|script|img|iframe|object|embed|i|b|style|link|base)$/;
  expect(names.filter((name) => forbidden.test(name))).toEqual([]);
  const attributes = await visit.inside<string[]>(
    `(root) => [...root.querySelectorAll("*")].flatMap((e) => e.getAttributeNames())
      .filter((name) => /^on|^href$|^src|^style$/.test(name))`,
  );
  expect(attributes).toEqual([]);
  const shown = await visit.inside<string>(
    `(root) => root.querySelector(".packet").textContent + root.querySelector("h3").textContent`,
  );
  expect(shown).not.toMatch(/[\p{Cc}\u202e\u200b\u2028]/u);
  expect(shown.split("⟦U+202E⟧").length).toBeGreaterThan(15);
});
