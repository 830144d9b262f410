import { CHAT, type PlayedWire } from "../../../test/fakes/provider-wires.ts";
import { repeatFrames } from "../../../test/fakes/repeated-frames.ts";
import { piecesOf, TOOL_OF, toolCallIdOf, type ScriptedStep } from "./scenario.ts";

/** One model call: the step that it answers, and its number in the run. */
export interface AnsweredStep {
  readonly scriptId: string;
  readonly step: ScriptedStep;
  readonly number: number;
}

/** Makes the frames of one model call as a provider on the wire sends them. */
export function modelFrames(wire: PlayedWire, answered: AnsweredStep): readonly string[] {
  const { step, number } = answered;
  const frames = wire.frames({
    ...(wire !== CHAT && { reasoning: sealOf(answered) }),
    text: piecesOf(step),
    calls: step.calls.map(({ effectClass, operation, fault }, index) => ({
      id: toolCallIdOf(number, index),
      name: TOOL_OF[effectClass],
      args: JSON.stringify({ operation, fault }),
    })),
  });
  return step.repeats ? repeatFrames(frames, step.repeats) : frames;
}

/** Returns whether a request lacks reasoning of an earlier step that its wire must see again. */
export function lacksReasoning(
  wire: PlayedWire,
  request: string,
  { scriptId, number }: Pick<AnsweredStep, "scriptId" | "number">,
): boolean {
  if (wire === CHAT) return false;
  const earlier = Array.from({ length: number }, (_, at) => sealOf({ scriptId, number: at }));
  return earlier.some((seal) => !request.includes(seal));
}

function sealOf({ scriptId, number }: Pick<AnsweredStep, "scriptId" | "number">): string {
  return `sealed ${scriptId}.${number};`;
}
