/** Classes of data, the most open one first (seeds/004, "Tool Contract Anatomy"). */
export const DATA_CLASSIFICATIONS = [
  "public",
  "internal",
  "confidential",
  "regulated",
  "secret",
] as const;
export type DataClassification = (typeof DATA_CLASSIFICATIONS)[number];
