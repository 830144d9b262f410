import { expect, test } from "vitest";
import { registerContracts } from "../../../../src/contracts/check/register.ts";
import { GAMEPLAN_TOOLS } from "../../tools/pack.ts";
import { anthropicWire } from "../../../../src/wire/anthropic/wire.ts";
import { openAIWire } from "../../../../src/wire/openai/wire.ts";
import { responsesWire } from "../../../../src/wire/responses/wire.ts";

/** Each step of each run sends them. Unit: bytes. */
const BUDGETS = { openai: 21_700, responses: 21_500, anthropic: 20_400 };

test("the 33 schemas that a model gets stay within their budget", () => {
  const specs = registerContracts(GAMEPLAN_TOOLS).map(({ spec }) => spec);
  const shown = specs.filter(({ shownToModel }) => shownToModel);
  expect(shown).toHaveLength(33);
  for (const wire of [openAIWire, responsesWire, anthropicWire]) {
    const sent = shown.map((spec) => JSON.stringify(wire.encodeTool(spec))).join(",");
    const bytes = Buffer.byteLength(sent);
    expect.soft(bytes).toBeLessThanOrEqual(BUDGETS[wire.id]);
  }
});
