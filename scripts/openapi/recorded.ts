import recorded from "./recorded.json" with { type: "json" };

/** Answers that test/http/openapi.test.ts recorded: by method, path and status. */
export const RECORDED: Readonly<Record<string, unknown>> = recorded;
