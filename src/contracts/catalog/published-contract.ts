import { hasCode } from "../define/author-code.ts";
import type { AmountField } from "../../protocol/tool/amount-field.ts";
import { hashOf } from "../../protocol/json/canonical-hash.ts";
import type { ToolContractDocument } from "../../protocol/tool/contract-document.ts";
import type { ToolEffect } from "../../protocol/tool/effect.ts";
import { ANSWER_SECONDS } from "../define/ask-section.ts";
import type { JsonSchema7 } from "../../protocol/tool/spec.ts";
import { toContractDocument } from "./document.ts";
import type { RegisteredContract } from "./registered.ts";
import { sorted } from "../../protocol/text/sorted.ts";
import type { AnyToolContract } from "../define/definition.ts";

/** A contract as `GET /v1/tools/:id` and the contract lock show it. */
export type PublishedContract = {
  readonly contract: ToolContractDocument;
  /** Facts that the closed schema of seeds/004 has no place for. */
  readonly interlock: {
    /** Absent without one. */
    readonly title?: string;
    /** Absent without one. */
    readonly category?: string;
    readonly effect: ToolEffect;
    readonly redaction: {
      readonly args: readonly string[];
      readonly output: readonly string[];
      /** Absent without `preview` and `verification`. */
      readonly state?: readonly string[];
      /** Absent without `details`. */
      readonly details?: readonly string[];
    };
    readonly parallel: boolean;
    /** Absent for a tool that models see. */
    readonly shown_to_model?: false;
    /** The tools of a saga's steps, in their order. */
    readonly steps?: readonly string[];
    readonly requires_connection: boolean;
    readonly untrusted_output: boolean;
    /** Absent for a tool that tells no service text of its arguments, or also writes. */
    readonly discloses?: true;
    readonly amount_field: AmountField | null;
    /** What the person is asked before each call. Absent: nothing. */
    readonly ask?: { readonly form: JsonSchema7; readonly ttl_seconds: number };
    /** Schema of what the tool tells people beside its output. Absent: nothing. */
    readonly details?: JsonSchema7;
    /** Shown fields of the state whose change asks nobody again, with reasons. */
    readonly may_drift?: Readonly<Record<string, string>>;
    readonly capabilities: readonly string[];
    /** Absent without hosts. */
    readonly egress_hosts?: readonly string[];
    /** Names, never addresses. Absent without upstreams. */
    readonly upstreams?: readonly string[];
    /** What an answer may hold beside its data. Absent: nothing. */
    readonly content?: {
      readonly max_images: number;
      readonly max_image_bytes: number;
      readonly max_text_bytes: number;
    };
    /** The name of its workspace. Absent without one. */
    readonly workspace?: string;
    readonly progress_stages: readonly string[];
    readonly max_arguments_bytes: number;
    readonly max_result_bytes: number;
    /** Absent when it is 0. */
    readonly retry_for_ms?: number;
    /** Absent without a verification. */
    readonly verification_delay_seconds?: number;
    /** Codes of the semantic rules. */
    readonly rules: readonly string[];
    /** Which of the functions that an author may leave out the contract has. */
    readonly optional: readonly string[];
    /** `sha256:…` over `{input_schema, output_schema}` in canonical JSON. */
    readonly schema_hash: string;
    /** `sha256:…` over `contract` and every other field of `interlock`. */
    readonly contract_hash: string;
  };
};

/**
 * Publishes a contract. Both hashes change only with its meaning: lists whose order has no meaning
 * are sorted first.
 */
export async function publishContract(registered: RegisteredContract): Promise<PublishedContract> {
  const document = toContractDocument(registered);
  const { input_schema, output_schema } = document.affordance;
  const interlock = {
    ...ownFieldsOf(registered.contract),
    ...askOf(registered),
    ...(registered.detailsSchema && { details: registered.detailsSchema }),
    ...(registered.discloses && { discloses: true as const }),
    schema_hash: await hashOf({ input_schema, output_schema }),
  };
  const contract_hash = await hashOf({ contract: document, interlock });
  return { contract: document, interlock: { ...interlock, contract_hash } };
}

function askOf({
  contract: { ask },
  formSchema: form,
}: RegisteredContract): Pick<PublishedContract["interlock"], "ask"> {
  return ask && form ? { ask: { form, ttl_seconds: ask.ttlSeconds ?? ANSWER_SECONDS } } : {};
}

const OPTIONAL = [
  "checkState",
  "compensate",
  "describe",
  "preview",
  "reconcile",
  "verify",
] as const;

function isWritten(contract: AnyToolContract, name: (typeof OPTIONAL)[number]): boolean {
  const isPure = name === "compensate" || name === "describe";
  return isPure ? contract[name] !== undefined : hasCode(contract, name);
}

function ownFieldsOf(
  contract: AnyToolContract,
): Omit<PublishedContract["interlock"], "schema_hash" | "contract_hash"> {
  const { category, content, redaction, runtime, security, title } = contract;
  return {
    ...(title !== undefined && { title }),
    ...(category !== undefined && { category }),
    effect: contract.effect,
    redaction: {
      args: sorted(redaction.args),
      output: sorted(redaction.output),
      ...(redaction.state && { state: sorted(redaction.state) }),
      ...(redaction.details && { details: sorted(redaction.details) }),
    },
    parallel: contract.parallel,
    ...(!contract.shownToModel && { shown_to_model: false as const }),
    ...(contract.saga && { steps: contract.saga.steps.map(({ tool }) => tool) }),
    requires_connection: contract.requiresConnection,
    untrusted_output: security.untrustedOutput,
    amount_field: contract.amountField ?? null,
    ...(contract.mayDrift && { may_drift: contract.mayDrift }),
    capabilities: sorted(new Set(contract.capabilities)),
    ...(security.egressHosts.length > 0 && {
      egress_hosts: sorted(new Set(security.egressHosts)),
    }),
    ...(security.upstreams.length > 0 && { upstreams: sorted(new Set(security.upstreams)) }),
    ...((content.maxImages > 0 || content.maxTextBytes > 0) && {
      content: {
        max_images: content.maxImages,
        max_image_bytes: content.maxImageBytes,
        max_text_bytes: content.maxTextBytes,
      },
    }),
    ...(contract.workspace !== undefined && { workspace: contract.workspace }),
    progress_stages: contract.progressStages,
    max_arguments_bytes: runtime.maxArgumentsBytes,
    max_result_bytes: runtime.maxResultBytes,
    ...(runtime.retryForMs > 0 && { retry_for_ms: runtime.retryForMs }),
    ...(contract.verification && {
      verification_delay_seconds: contract.verification.delaySeconds,
    }),
    rules: contract.rules.map(({ code }) => code),
    optional: OPTIONAL.filter((name) => isWritten(contract, name)),
  };
}
