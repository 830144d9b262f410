import type { ModelRequest } from "../../capabilities/model.ts";
import type { ToolChoice } from "../../protocol/model/answer-settings.ts";
import type { DeclaredModel } from "../../protocol/model/declaration.ts";
import { fitMessage } from "../../wire/model/message-parts.ts";
import type { WireRequest } from "../../wire/model/model-wire.ts";

/**
 * Leaves out of a request what the model cannot take, and names the model as its provider does.
 * Contract: pure.
 */
export function fitRequest(
  { messages, files, tools: offered, maxOutputTokens, settings = {} }: ModelRequest,
  { id, name, can, effort: declared, summaries }: DeclaredModel,
): WireRequest & { readonly author: string } {
  const tools = can.tools ? offered : [];
  const isKnown = settings.effort !== undefined && can.efforts.includes(settings.effort);
  const effort = isKnown ? settings.effort : declared;
  const { temperature, toolChoice } = settings;
  const isChoosable = toolChoice !== undefined && canChoose(toolChoice, { tools, can });
  return {
    model: name,
    // Reasoning belongs to the account behind the id, and to the model behind the name.
    author: id === name ? id : `${id} ${name}`,
    messages: messages.map((message) => fitMessage(message, can)),
    ...(files && { files }),
    tools,
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(effort !== undefined && { effort }),
    ...(summaries && { summaries }),
    ...(temperature !== undefined && can.temperature && { temperature }),
    ...(isChoosable && { toolChoice }),
  };
}

/** A provider refuses a choice among no tools, and the name of a tool that it was not offered. */
function canChoose(
  choice: ToolChoice,
  { tools, can }: Pick<ModelRequest, "tools"> & Pick<DeclaredModel, "can">,
): boolean {
  if (tools.length === 0) return false;
  if (choice === "auto" || choice === "none") return true;
  const isOffered = choice === "required" || tools.some(({ name }) => name === choice.tool);
  return can.forcedTools && isOffered;
}
