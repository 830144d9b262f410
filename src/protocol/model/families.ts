import type { ModelAbilities, ModelWireId } from "./declaration.ts";

/** What every endpoint of a wire takes. A model that no family knows gets no more. */
const LEAST: ModelAbilities = {
  tools: true,
  images: false,
  files: false,
  efforts: [],
  temperature: false,
  forcedTools: false,
  strictTools: false,
  maxTokensField: "max_completion_tokens",
};

interface Family {
  readonly names: RegExp;
  readonly can: Partial<ModelAbilities>;
}

const SEES = { images: true, files: true } as const;
const OPENAI = { ...SEES, forcedTools: true, strictTools: true } as const;
const CLAUDE = { ...SEES, forcedTools: true } as const;
/** Later models refuse a temperature. */
const OLD_CLAUDE = { ...CLAUDE, temperature: true, maxImageTokens: 1_600 } as const;
const THREE = ["low", "medium", "high"] as const;
/** 28 by 28 pixels are a token. An edge has at most 1,568 pixels, and 2,576 since Opus 4.7. */
const LARGE_IMAGE = { maxImageTokens: 4_784 } as const;
/** 1,536 patches at the highest factor of these families, 2.46; tiles cost less. */
const PATCHED_IMAGE = { maxImageTokens: 3_779 } as const;

/**
 * Families by the provider's name, the first that fits counts. Sources, read 2026-11-22:
 * https://developers.openai.com/api/docs/guides/reasoning (efforts), the type ReasoningEffort of
 * `openai` 7.55, https://platform.claude.com/docs/en/build-with-claude/effort and /vision.
 */
const OPENAI_FAMILIES: readonly Family[] = [
  { names: /^gpt-4o-mini/, can: { ...OPENAI, temperature: true, maxImageTokens: 48_169 } },
  { names: /^(?:gpt-4o|gpt-4\.1)/, can: { ...OPENAI, ...PATCHED_IMAGE, temperature: true } },
  { names: /^o[13]-mini/, can: { ...OPENAI, images: false, files: false, efforts: THREE } },
  { names: /^o\d/, can: { ...OPENAI, ...PATCHED_IMAGE, efforts: THREE } },
  { names: /^gpt-[34]/, can: { forcedTools: true, temperature: true } },
  {
    names: /^gpt-5(?:-|$)/,
    can: { ...OPENAI, ...PATCHED_IMAGE, efforts: ["minimal", ...THREE] },
  },
  { names: /^gpt-5\.1(?:-|$)/, can: { ...OPENAI, ...PATCHED_IMAGE, efforts: ["none", ...THREE] } },
  { names: /^gpt-5\./, can: { ...OPENAI, efforts: ["none", ...THREE, "xhigh"] } },
  // Some of these refuse `none`, and the documentation gives no bound for an image.
  { names: /^gpt-\d/, can: { ...OPENAI, efforts: THREE } },
];

const CLAUDE_FAMILIES: readonly Family[] = [
  { names: /^claude-(?:3|haiku-4|(?:sonnet|opus)-4(?:-[015])?(?:-2\d{7})?$)/, can: OLD_CLAUDE },
  {
    names: /^claude-(?:sonnet|opus)-4-6/,
    can: { ...OLD_CLAUDE, efforts: [...THREE, "max"] },
  },
  {
    // Thinking cannot be switched off here, and a forced tool is an error with it.
    names: /^claude-(?:opus-5-5|fable-5-1)/,
    can: { ...CLAUDE, ...LARGE_IMAGE, forcedTools: false, efforts: [...THREE, "xhigh", "max"] },
  },
  {
    names: /^claude-/,
    can: { ...CLAUDE, ...LARGE_IMAGE, efforts: [...THREE, "xhigh", "max"] },
  },
];

/**
 * Tells what a model can take, by the provider's name of it. Gateways prefix the name with the
 * provider's. Contract: pure; an unknown name gets the least.
 */
export function abilitiesOf(wire: ModelWireId, name: string): ModelAbilities {
  const bare = name.replace(/^(?:openai|anthropic)\//, "");
  const families = [...OPENAI_FAMILIES, ...CLAUDE_FAMILIES];
  const known = families.find(({ names }) => names.test(bare));
  // The wire `anthropic` has no strict schemas, whatever the model.
  return { ...LEAST, ...known?.can, ...(wire === "anthropic" && { strictTools: false }) };
}
