import type { StoredTurns, Turn, TurnEnd } from "./stored-turns.ts";

/** A turn whose page is stored. */
export type EndedTurn = Turn & { readonly end: TurnEnd };

export function hasEnded(turn: Turn): turn is EndedTurn {
  return turn.end !== null;
}

/** A path from a turn to its root. Every turn before another one has ended. */
export function* pathFrom(turns: StoredTurns, newest: EndedTurn): Generator<EndedTurn> {
  for (const turn of turns.path(newest)) if (hasEnded(turn)) yield turn;
}
