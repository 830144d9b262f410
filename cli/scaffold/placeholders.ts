/** What a new tool says until its author writes it. `interlock check` refuses these texts. */
export const PLACEHOLDERS = {
  description: "Tell the model when to use this tool, and what it does not do.",
  consequence: "Say here what cannot be taken back.",
  reference: "Name here what was changed.",
} as const;
