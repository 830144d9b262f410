import type { TranscriptMessage } from "../../protocol/conversation/message.ts";
import type { AnswerSettings } from "../../protocol/model/answer-settings.ts";
import type { ModelAbilities, ModelWireId } from "../../protocol/model/declaration.ts";
import type { ShownTool } from "../../protocol/tool/spec.ts";
import type { FileContents } from "./message-parts.ts";
import type { EventDecoder } from "./event-decoder.ts";

/** One model call, as a wire encodes it. The model can take all of it. */
export interface WireRequest extends AnswerSettings {
  /** The provider's name of the model. */
  readonly model: string;
  /** Whose opaque items the model can read; see `opaqueItemsFor`. Default: the model. */
  readonly author?: string;
  readonly messages: readonly TranscriptMessage[];
  /** Content of the files in the messages. */
  readonly files?: FileContents;
  readonly tools: readonly ShownTool[];
  readonly maxOutputTokens?: number;
  /** Asks for reasoning summaries. */
  readonly summaries?: boolean;
}

/** How a model differs from others on its wire. */
export type WireTraits = Pick<ModelAbilities, "strictTools" | "maxTokensField">;

/** A request's body, and the function that reverts the arguments of the answer's calls. */
export interface EncodedRequest {
  readonly body: object;
  /** Turns arguments back into the shape of the tool's contract. */
  readonly restoreArguments: (toolName: string, argumentsText: string) => string;
}

/** A type of a provider's package, read-only throughout. */
export type Sent<Type> = Type extends readonly (infer Item)[]
  ? readonly Sent<Item>[]
  : Type extends object
    ? { readonly [Key in keyof Type]: Sent<Type[Key]> }
    : Type;

/**
 * The format of one family of model providers: an encoder and a decoder.
 * Contract: pure but for the readers; encoding is linear.
 */
export interface ModelWire {
  /** Names the wire in the configuration, and binds what a provider must see again. */
  readonly id: ModelWireId;
  /** Path of the endpoint under the base address. */
  readonly path: string;
  headers(apiKey: string): Readonly<Record<string, string>>;
  encodeRequest(request: WireRequest, traits: WireTraits): EncodedRequest;
  /** Encodes one message alone, to bound the tokens of a request. */
  encodeMessage(message: TranscriptMessage): unknown;
  /** Encodes one tool alone, in its longest form. */
  encodeTool(spec: ShownTool): unknown;
  /** Allowance for what a provider adds once per request. Unit: tokens. */
  readonly tokensPerRequest: number;
  createDecoder(): EventDecoder;
}
