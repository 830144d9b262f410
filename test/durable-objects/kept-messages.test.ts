import { expect, test } from "vitest";
import {
  KeptMessages,
  type KeptTurn,
} from "../../durable-objects/run/conversation/kept-messages.ts";

const turn = (number: number, quarters = 1): KeptTurn => ({
  number,
  messages: [{ role: "user", text: `${number}` }],
  chars: quarters * 64 * 1024,
});

function keptOf(kept: KeptMessages): readonly number[] {
  return [1, 2, 3, 4, 5, 6].filter((number) => kept.find(number)?.number === number);
}

test("keeps what was read last, the newest turns of more than fits", () => {
  const kept = new KeptMessages();
  kept.keep([turn(1), turn(2), turn(3)]);
  expect(keptOf(kept)).toEqual([1, 2, 3]);
  kept.keep([turn(1)]);
  expect(keptOf(kept)).toEqual([1, 2, 3]);
  kept.keep([turn(1), turn(2), turn(3), turn(4), turn(5)]);
  expect(keptOf(kept)).toEqual([2, 3, 4, 5]);
  kept.keep([turn(1), turn(6)]);
  expect(keptOf(kept)).toEqual([1, 4, 5, 6]);
  kept.keep([turn(5), turn(6, 9)]);
  expect(keptOf(kept)).toEqual([]);
});

test("forgets a turn that is written or deleted", () => {
  const kept = new KeptMessages();
  kept.keep([turn(1), turn(2)]);
  kept.forget(2);
  kept.forget(3);
  expect(keptOf(kept)).toEqual([1]);
});
