import type { RegisteredContract } from "../../src/contracts/catalog/registered.ts";
import type { Finding } from "./finding.ts";

/**
 * Finds reads whose author vouches for their output although another tool writes text to the same
 * place, and other tools of the deployment return text of strangers.
 * Threat: what a stranger wrote becomes a note, and a later conversation reads the note as trusted.
 */
export function checkSecondOrder(contracts: readonly RegisteredContract[]): readonly Finding[] {
  const hasStrangers = contracts.some(
    ({ contract, isOutputTextFree }) => contract.security.untrustedOutput && !isOutputTextFree,
  );
  if (!hasStrangers) return [];
  return contracts.flatMap((read): Finding[] => {
    const { spec, contract, isOutputTextFree } = read;
    const isVouched = !contract.security.untrustedOutput && !isOutputTextFree;
    if (spec.effect !== "read_only" || !isVouched) return [];
    const places = placesOf(read);
    const write = contracts.find(
      (other) =>
        other.spec.effect !== "read_only" && [...placesOf(other)].some((one) => places.has(one)),
    );
    if (!write) return [];
    const message =
      `vouches for its output with untrustedOutput: false, and ${write.spec.name} may write there ` +
      "what strangers said; set untrustedOutput to true, let policy refuse that write after " +
      "untrusted output, or see that each operation of a workspace says which rows it reads";
    return [{ level: "warning", place: spec.name, message }];
  });
}

/** Where a tool keeps or finds what it works on. */
function placesOf({ contract: { workspace, security } }: RegisteredContract): ReadonlySet<string> {
  const upstreams = security.upstreams.map((name) => `upstream ${name}`);
  return new Set(workspace === undefined ? upstreams : [`workspace ${workspace}`, ...upstreams]);
}
