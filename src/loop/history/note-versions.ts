import { WRAPPER_VERSION } from "../../protocol/audit/entry.ts";
import { hashText, toCanonicalJson } from "../../protocol/json/canonical-hash.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import { OBSERVATION_SCHEMA } from "../../protocol/outcome/observation.ts";
import type { ShownTool } from "../../protocol/tool/spec.ts";
import { toolsShown } from "../model/relay-answer.ts";
import type { RunScope } from "../run-scope.ts";

/**
 * Notes the versions of what the model of a run is given, before it is asked for the first time.
 * Contract: waits for a hash alone, so the note is stored with the first step.
 */
export async function noteVersions(scope: RunScope): Promise<void> {
  const { claim, journal, modelOf } = scope;
  const wire = modelOf(claim.model)?.wire;
  const promptHash = claim.call ? undefined : await hashPrompt(scope);
  const versions = {
    ...(promptHash !== undefined && { promptHash }),
    ...(wire && { wire }),
    observationSchema: OBSERVATION_SCHEMA,
    wrapperVersion: WRAPPER_VERSION,
  };
  journal.note({ versions });
}

/**
 * Hashes what a tenant and its deployment tell a model: the template of the instructions, the
 * settings, and the tools by name (seeds/001, "Include tools in promptHash computation").
 * Threat: a hash over what a person said, or over values of the template, lets a reader of the
 * audit log find short ones by trying.
 */
function hashPrompt(scope: RunScope): Promise<string> {
  const { instructions = "", settings = {} } = scope.claim;
  const tools = toolsShown(scope)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(canonicalTool);
  // The canonical form of an object of these three, which are in its order.
  return hashText(
    `{"instructions":${toCanonicalJson(instructions)},` +
      `"settings":${toCanonicalJson(settings as JsonObject)},"tools":[${tools.join(",")}]}`,
  );
}

/** Texts of tools hashed before: schemas are most of a prompt, and all runs share them. */
const CANONICAL = new WeakMap<ShownTool, string>();

function canonicalTool(tool: ShownTool): string {
  const { name, description, inputSchema } = tool;
  const text = CANONICAL.get(tool) ?? toCanonicalJson({ name, description, inputSchema });
  CANONICAL.set(tool, text);
  return text;
}
