import type { AuditPage } from "../capabilities/audit.ts";
import { auditLine, type AuditHead, type AuditRecord } from "../protocol/audit/chain.ts";

/** Records that are read at once. */
const PAGE_RECORDS = 200;

/** An export on its way, and where the chain ended when it began. */
export interface AuditExport {
  readonly head: AuditHead;
  readonly body: ReadableStream<Uint8Array>;
}

/**
 * Streams records as lines, page by page as the client takes them.
 * Contract: holds one page in memory; ends at the head of when it began, whatever is recorded meanwhile. A whole export
 * has one more line, `{"head":{"hash","seq"}}`, so that a connection that breaks off shows. Throws when the first page
 * cannot be read; later the stream breaks.
 */
export async function exportLines(
  read: (after: number, limit: number) => Promise<AuditPage>,
  word: (record: AuditRecord) => string,
  { isWhole }: { readonly isWhole: boolean },
): Promise<AuditExport> {
  const encoder = new TextEncoder();
  const first = await read(0, PAGE_RECORDS);
  const { head } = first;
  let page: AuditPage | undefined = first;
  const end = isWhole ? auditLine({ head }) : "";
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // A page may be empty; a pull has to bring something or close.
        for (let text = ""; page;) {
          text += linesOf(page, head, word);
          page = await pageAfter(page, head, read);
          if (!page) text += end;
          if (text !== "") controller.enqueue(encoder.encode(text));
          if (text !== "" && page) return;
        }
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return { head, body };
}

function linesOf(
  { items }: AuditPage,
  { seq: lastSeq }: AuditHead,
  word: (record: AuditRecord) => string,
): string {
  return items
    .filter(({ seq }) => seq <= lastSeq)
    .map(word)
    .join("");
}

async function pageAfter(
  { next }: AuditPage,
  { seq: lastSeq }: AuditHead,
  read: (after: number, limit: number) => Promise<AuditPage>,
): Promise<AuditPage | undefined> {
  return next === undefined || next >= lastSeq ? undefined : read(next, PAGE_RECORDS);
}
