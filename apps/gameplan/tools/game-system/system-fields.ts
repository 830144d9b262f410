import * as v from "valibot";
import { longText } from "../entities/fields.ts";
import { mvpCriticality, systemStatus } from "../entities/game-system.ts";

const text = (description: string) => v.exactOptional(v.pipe(longText, v.description(description)));

/** What people write about a system beside its name and slug (seeds/003, create_game_system). */
export const systemFields = {
  purpose: text("What this system does in the game."),
  coreMechanics: text("Core gameplay mechanics."),
  mvpCriticality: v.exactOptional(
    v.pipe(mvpCriticality, v.description("How critical the system is for the MVP.")),
  ),
  status: v.exactOptional(systemStatus),
  currentState: text("Current implementation state."),
  targetState: text("Target implementation state."),
  inputs: text("System inputs."),
  outputs: text("System outputs."),
  failureStates: text("Known failure states."),
  scalingBehavior: text("How the system scales."),
  implementationNotes: text("Implementation notes."),
  openQuestions: text("Open questions to resolve, one a line."),
};
