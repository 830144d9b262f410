import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import type { JsonObject, JsonValue } from "../../protocol/json/value.ts";
import { maskSecrets } from "../../protocol/secrets/secret-shapes.ts";
import type { AttributeValue } from "./span.ts";
import type { TracedCall, TracedRun, TracedTool } from "./traced-run.ts";

/** Stands for a tool that the deployment does not have: the model made its name up. */
const UNKNOWN_TOOL = "unknown";
/** Limits of the fields that a contract names. */
const MAX_FIELDS = 16;
const MAX_VALUE_CHARS = 128;

/** Describes the calls of a run, in their order. Contract: pure; linear. */
export function describeCalls(run: TracedRun): readonly TracedCall[] {
  const failed = new Set<string>();
  const requests = Map.groupBy(run.approvals, ({ invocation }) => invocation);
  return run.calls.map((record) => {
    const { name, number, binding } = record;
    const tool = run.toolOf(name, binding?.version);
    const checked = validationOf(record);
    const validation = checked === "passed" && failed.delete(name) ? "repaired" : checked;
    if (validation === "failed") failed.add(name);
    return {
      tenantId: run.tenantId,
      tool,
      toolName: tool ? name : UNKNOWN_TOOL,
      validation,
      keyHash: run.keyHashes.get(number),
      requests: requests.get(number) ?? [],
      named: tool ? readNamed(tool, record) : [],
    };
  });
}

/** What the checks of a call came to (seeds/004, "Observability"). */
function validationOf({ end }: ToolInvocationRecord): TracedCall["validation"] {
  if (!end) return "approval_pending";
  if (end.lesson?.begun || !end.observation.status.is_error) return "passed";
  return end.response.repairable && end.fits !== "rules" ? "failed" : "blocked";
}

/**
 * Reads the fields that the contract names. Threat: a field that nobody may see, or a secret in one
 * that people may see. So they come from what redaction left.
 */
function readNamed(
  { traceAttributes }: TracedTool,
  { binding, end }: ToolInvocationRecord,
): TracedCall["named"] {
  const shown: JsonObject = { ...end?.observation.result_payload.data, ...binding?.shownArgs };
  const names = traceAttributes.slice(0, MAX_FIELDS).filter((name) => Object.hasOwn(shown, name));
  return names.map((name) => [name, shorten(name, shown[name])] as const);
}

/** Lists and objects have no attribute. */
function shorten(name: string, value: JsonValue | undefined): AttributeValue {
  if (typeof value === "object" || value === undefined) return undefined;
  const [left] = Object.values(maskSecrets({ [name]: value }) as Record<string, typeof value>);
  return typeof left === "string" ? left.slice(0, MAX_VALUE_CHARS).toWellFormed() : left;
}
