import type { RunId, TenantId } from "../protocol/identity/ids.ts";

/** A run and its tenant. */
export interface OwnedRun {
  readonly tenantId: TenantId;
  readonly runId: RunId;
}

/**
 * Makes fingerprints: keyed hashes that take the place of a run's hashes outside the run's object.
 * Threat: withheld arguments may be short, such as a PIN. A reader of a plain hash over them can
 * try all values until the hash fits.
 * Contract: `hmac-sha256:` and 64 lower-case hex digits. Equal values of one run have equal
 * fingerprints. A fingerprint of another tenant or another run tells nothing about the value.
 */
export interface Fingerprints {
  of(run: OwnedRun, value: string): Promise<string>;
}
