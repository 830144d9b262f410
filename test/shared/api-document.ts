import text from "../../dist/public/openapi.json?raw";
import type { AnswerSchema } from "./check-schema.ts";

/** What a body looks like; a refusal has examples by its codes. */
export interface DescribedContent {
  readonly schema: AnswerSchema;
  readonly example?: unknown;
  readonly examples?: object;
}

/** One answer of an operation. */
export interface DescribedAnswer {
  readonly headers?: object;
  readonly content?: Readonly<Record<string, DescribedContent>>;
}

/** One method of one path. */
export interface DescribedOperation {
  readonly operationId: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly example?: string | number;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, DescribedContent>> };
  readonly responses: Readonly<Record<string, DescribedAnswer>>;
}

interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: {
    readonly headers: object;
    readonly schemas: Readonly<Record<string, AnswerSchema>>;
  };
}

/** The document of the API, as the build wrote it. Its own type would be as large as itself. */
export const apiDocument = JSON.parse(text) as ApiDocument;
