import { piecesOf, TOOL_OF, toolCallIdOf, type ScriptedStep } from "./scenario.ts";

/** Makes the frames of one model call in the format of an OpenAI-compatible provider. */
export function modelFrames(step: ScriptedStep, number: number): readonly string[] {
  const { calls } = step;
  const said = piecesOf(step).map((content) => chunk({ content }));
  const asked = calls.map(({ effectClass, operation, fault }, index) =>
    chunk({
      tool_calls: [
        {
          index,
          id: toolCallIdOf(number, index),
          type: "function",
          function: {
            name: TOOL_OF[effectClass],
            arguments: JSON.stringify({ operation, fault }),
          },
        },
      ],
    }),
  );
  const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };
  return [
    ...said,
    ...asked,
    chunk({}, calls.length > 0 ? "tool_calls" : "stop"),
    frame({ id: "chatcmpl-1", choices: [], usage }),
    "data: [DONE]\n\n",
  ];
}

function chunk(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return frame({ id: "chatcmpl-1", object: "chat.completion.chunk", choices });
}

function frame(body: object): string {
  return `data: ${JSON.stringify(body)}\n\n`;
}
