import { REQUEST_PROBLEMS } from "./request-problems.ts";
import { RUN_PROBLEMS } from "./run-problems.ts";
import { TENANT_PROBLEMS } from "./tenant-problems.ts";

/** Every refusal over HTTP, by its stable `code`. A title says what is wrong and what to do. */
export const PROBLEMS = { ...REQUEST_PROBLEMS, ...RUN_PROBLEMS, ...TENANT_PROBLEMS } as const;

export type ProblemCode = keyof typeof PROBLEMS;
