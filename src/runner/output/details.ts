import type { Log } from "../../capabilities/log.ts";
import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import { isJsonObject, type JsonObject } from "../../protocol/json/value.ts";
import type { MaskValues } from "../../protocol/secrets/mask-values.ts";
import { utf8Bytes } from "../../protocol/text/encoding.ts";
import { neutralise } from "../../protocol/text/untrusted.ts";
import { replaceHalves } from "../../protocol/text/whole-characters.ts";
import { MAX_DETAILS_BYTES, type ShownDetails } from "../../protocol/tool/details.ts";

/** Whose details they are, and what masks the secrets of its connection. */
interface Source {
  readonly tool: Pick<BoundToolRuntime, "id" | "version" | "isOutputUntrusted" | "readDetails">;
  readonly mask: MaskValues;
}

/**
 * Reads what a tool tells people beside its output, as an output is read: it has to fit the
 * contract, only allowlisted fields stay, text of others is made harmless, and the secrets of the
 * connection are masked. The call has happened whatever they are, so it does not fail by them.
 * Contract: never throws.
 */
export function readShownDetails(log: Log, source: Source, given: unknown): ShownDetails {
  const about = { toolId: source.tool.id, toolVersion: source.tool.version };
  try {
    const read = source.tool.readDetails(given);
    const shown = read ? bound(clean(source, read)) : INVALID;
    if ("leftOut" in shown) log.write({ level: "error", code: "details_refused", ...about });
    return shown;
  } catch (thrown) {
    // The author's schema threw, or the details are nested without end.
    log.fault("call_failed", thrown, { ...about, mask: source.mask });
  }
  return INVALID;
}

const INVALID: ShownDetails = { leftOut: "invalid" };

function clean({ tool, mask }: Source, read: JsonObject): JsonObject {
  const whole = replaceHalves(read);
  const shown = mask(tool.isOutputUntrusted ? neutralise(whole).value : whole);
  return isJsonObject(shown) ? shown : {};
}

function bound(value: JsonObject): ShownDetails {
  const isShort = utf8Bytes(JSON.stringify(value)) <= MAX_DETAILS_BYTES;
  return isShort ? { value } : { leftOut: "too_large" };
}
