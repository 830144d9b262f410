import { existsSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { matchAssistant } from "../../src/contracts/policy/match-assistant.ts";
import { findWeakApprovals, matchPolicy } from "../../src/contracts/policy/match-policy.ts";
import type { PolicyMismatch } from "../../src/contracts/policy/mismatch.ts";
import { warnAbout, warnAboutRoles } from "../../src/contracts/policy/warn-policy.ts";
import type { Deployment } from "../../src/compose/deployment.ts";
import { createModelCatalog } from "../../src/protocol/model/catalog.ts";
import { assistantDocument } from "../../src/protocol/assistant/document.ts";
import { warnAboutAssistant } from "../../src/protocol/assistant/warn-assistant.ts";
import { checkSettings } from "../../src/protocol/assistant/check-settings.ts";
import { parseServiceAddress } from "../../src/protocol/connection/service-address.ts";
import { denyAll, parseToolPolicy } from "../../src/protocol/policy/document.ts";
import { isTenantModel } from "../../src/protocol/provider/tenant-model.ts";
import { CommandError, messageOf } from "../command.ts";
import { PEOPLE_FILE, readPeople } from "../development/people.ts";
import { type LocalDocument, readLocalDocuments } from "../push/local-documents.ts";
import { placeOf } from "../push/tenant-files.ts";
import type { Finding } from "./finding.ts";

/** What the documents of the tenant are checked against. */
export interface DocumentsRequest {
  readonly project: string;
  readonly deployment: Deployment;
  /** The setting `MODELS` of the environment. */
  readonly modelList: string | undefined;
  readonly nowMs: number;
}

/**
 * Checks the files of the folder `tenant` by the schemas and the rules by which the deployment
 * takes or refuses them. Of files that are no documents it tells the first.
 */
export function checkDocuments(request: DocumentsRequest): readonly Finding[] {
  try {
    const documents = readLocalDocuments(request.project);
    return [
      ...checkPolicy(documents, request),
      ...documents.flatMap((document) => checkAssistant(document, documents, request)),
      ...documents.flatMap((document) => checkProvider(document, request)),
    ];
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return [{ level: "error", place: "tenant", message: error.message }];
  }
}

function policyOf(documents: readonly LocalDocument[]) {
  const found = documents.find(({ kind }) => kind === "policy");
  return found && parseToolPolicy(found.shown);
}

function checkPolicy(
  documents: readonly LocalDocument[],
  { project, deployment: { contracts } }: DocumentsRequest,
): readonly Finding[] {
  const policy = policyOf(documents);
  if (!policy) {
    const message = "there is no policy. A tenant without one may use no tools";
    return [{ level: "warning", place: "tenant/policy.json", message }];
  }
  const specs = contracts.map(({ spec }) => spec);
  const wrong = [...matchPolicy(policy, specs), ...findWeakApprovals(policy, specs)];
  const tell = (level: Finding["level"]) => (mismatch: PolicyMismatch) =>
    describe(project, { ...mismatch, level, key: "policy" });
  const warned = [
    ...warnAbout(policy, contracts),
    ...warnAboutRoles(policy, readRoles(project)).map(({ pointer, message }) => ({
      pointer,
      message: message.replace("known person", `person of ${PEOPLE_FILE}`),
    })),
  ];
  return [...wrong.map(tell("error")), ...warned.map(tell("warning"))];
}

function checkAssistant(
  { kind, key, shown }: LocalDocument,
  documents: readonly LocalDocument[],
  { project, deployment, modelList, nowMs }: DocumentsRequest,
): readonly Finding[] {
  if (kind !== "assistants") return [];
  const document = v.parse(assistantDocument, shown);
  const { model, settings } = document;
  const specs = deployment.contracts.map(({ spec }) => spec);
  const policy = policyOf(documents) ?? denyAll();
  const tools = matchAssistant(document, { specs, policy, nowMs });
  // Other findings tell about a catalog that is not valid.
  const catalog = createModelCatalog(deployment.models, modelList);
  const offered = catalog.ok ? catalog.value.offered : [];
  const named = offered.filter(({ id }) => model === undefined || id === model);
  const isUnknown = catalog.ok && named.length === 0 && !isTenantModel(model ?? "");
  const models = isUnknown
    ? [{ pointer: "/model", message: "is not a model of this deployment" }]
    : [];
  const unfit = named.flatMap((known) => checkSettings(settings, known));
  const wrong = [
    ...new Map([...models, ...unfit, ...tools].map((one) => [one.pointer, one])).values(),
  ];
  const hasContextHook = deployment.context !== undefined;
  const warned = warnAboutAssistant(document, { hasContextHook });
  return [
    ...wrong.map((mismatch) => describe(project, { ...mismatch, level: "error", key })),
    ...warned.map((warning) => describe(project, { ...warning, level: "warning", key })),
  ];
}

/** In development a provider may be on this machine. */
function checkProvider(
  { kind, key, shown }: LocalDocument,
  { project }: DocumentsRequest,
): readonly Finding[] {
  if (kind !== "providers") return [];
  const { baseUrl } = shown;
  const isPublic =
    typeof baseUrl === "string" && parseServiceAddress(baseUrl, { allowsLoopback: false });
  if (isPublic) return [];
  const message = "is no public https address";
  return [describe(project, { level: "error", key, pointer: "/baseUrl", message })];
}

/** The roles of the people of development; undefined without their file. */
function readRoles(project: string): ReadonlySet<string> | undefined {
  const file = join(project, PEOPLE_FILE);
  if (!existsSync(file)) return undefined;
  try {
    return new Set([...readPeople(file).values()].flatMap(({ roles }) => roles));
  } catch (error) {
    throw new CommandError(messageOf(error));
  }
}

interface Wrong extends Pick<PolicyMismatch, "pointer" | "message"> {
  readonly level: Finding["level"];
  readonly key: string;
}

function describe(project: string, { level, key, pointer, message }: Wrong): Finding {
  return { level, place: placeOf(project, key, pointer), message: `${pointer}: ${message}` };
}
