import type { Log } from "../../capabilities/log.ts";
import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import { maskValues, withheldValues, type MaskValues } from "../../protocol/secrets/mask-values.ts";
import { cutText, replaceHalves } from "../../protocol/text/whole-characters.ts";
import type { AcceptedArguments } from "../gates/subjects.ts";

const MAX_TITLE_CHARS = 120;
const MAX_CONSEQUENCE_CHARS = 1_000;

/** A call, and the state of its target that approvers see; null or absent when it is not known. */
type DescribedCall = Pick<AcceptedArguments, "args" | "shown"> & {
  readonly before?: JsonObject | null;
};

/**
 * Describes a call in its author's words, or in default ones. The log gets what the author's
 * function throws.
 * Threat: the author's texts are made of arguments that a model chose, so their length is bounded;
 * they may name an argument that redaction withholds, so it is masked.
 */
export function describeAction(
  log: Log,
  tool: BoundToolRuntime,
  { args, shown, before = null }: DescribedCall,
): { readonly title: string; readonly consequence: string } {
  const mask = maskValues(withheldValues(args, shown));
  const { action, consequence } = askToDescribe(tool, { args, before }, (thrown) => {
    const about = { toolId: tool.id, toolVersion: tool.version, mask };
    log.fault("packet_incomplete", thrown, about);
  });
  return {
    title: readText(action, MAX_TITLE_CHARS, mask) ?? nameTool(tool),
    consequence: readText(consequence, MAX_CONSEQUENCE_CHARS, mask) ?? CONSEQUENCES[tool.effect],
  };
}

/** Threat: a title alone may be taken for that of another tool. */
function nameTool({ id, spec: { title } }: Pick<BoundToolRuntime, "id" | "spec">): string {
  return title === undefined ? id : `${title} (${id})`;
}

const CONSEQUENCES: { readonly [Effect in BoundToolRuntime["effect"]]: string } = {
  read_only: "It reads with these arguments and changes nothing. Its contract does not say more.",
  state_change: "It changes data with these arguments. Its contract does not say more.",
  external_side_effect:
    "It acts on people or systems outside with these arguments. Its contract does not say more.",
};

type Texts = { readonly action?: unknown; readonly consequence?: unknown };

function askToDescribe(
  tool: BoundToolRuntime,
  { args, before }: { readonly args: JsonObject; readonly before: JsonObject | null },
  onThrown: (thrown: unknown) => void,
): Texts {
  try {
    // An author who does not use TypeScript may return anything, throwing getters included.
    const { action, consequence } = (tool.describe?.(args, before) ?? {}) as Texts;
    return { action, consequence };
  } catch (thrown) {
    onThrown(thrown);
    return {};
  }
}

/** Reads text, and says how much of it is not shown. */
export function readText(text: unknown, maxChars: number, mask: MaskValues): string | undefined {
  if (typeof text !== "string" || text.trim() === "") return undefined;
  // Hidden before it is cut: a cut would leave half of a value.
  const whole = mask(replaceHalves(text));
  const kept = cutText(whole, maxChars);
  if (kept.length === whole.length) return kept;
  return `${kept}… (${whole.length - kept.length} more characters are not shown)`;
}
