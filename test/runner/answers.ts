import { fail } from "../../src/protocol/outcome/result.ts";

export const down = (retryAfterMs?: number) =>
  fail({
    taxonomyClass: "DEPENDENCY_UNAVAILABLE" as const,
    errors: [{ field: null, code: "down", message: "it is down" }],
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });

export const never = (): Promise<never> => new Promise(() => {});
