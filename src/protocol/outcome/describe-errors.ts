import type { ObservationObject } from "./observation.ts";

/** Says in one line what went wrong with a call. Contract: pure; the call failed. */
export function describeErrors({ result_payload, status }: ObservationObject): string {
  const described = result_payload.errors.map(({ field, message }) =>
    field === null ? message : `${field}: ${message}`,
  );
  return described.join("; ") || status.taxonomy_class;
}
