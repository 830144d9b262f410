import text from "../../dist/public/openapi.json?raw";

/** One method of one path. */
interface DescribedOperation {
  readonly operationId: string;
}

interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
}

/** The document of the API, as the build wrote it. Its own type would be as large as the document. */
export const apiDocument = JSON.parse(text) as ApiDocument;
