import { expect, test } from "vitest";
import { readDecisions } from "../../../src/loop/replay/decisions.ts";
import { hashOf } from "../../../src/protocol/json/canonical-hash.ts";
import type { AiEvent } from "../../../src/protocol/run/event.ts";

const logOf = (text: string): readonly AiEvent[] => [
  { type: "step_started", step: 1, messageId: "m" },
  { type: "text_started", part: 0 },
  { type: "text_delta", part: 0, text },
  { type: "text_finished", part: 0 },
];

test("a stored log with half a character has a hash, that of U+FFFD in its place", async () => {
  const stored = await hashOf(readDecisions(logOf("a\ud83d")));
  expect(stored).toBe(await hashOf(readDecisions(logOf("a\ufffd"))));
});
