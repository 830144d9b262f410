import type { AuditPage } from "../../capabilities/audit.ts";
import { auditLine, type AuditHead, type AuditRecord } from "../../protocol/audit/chain.ts";

/** Records that one read takes. */
const PAGE_RECORDS = 200;

/** A running export, and the end of the chain when the export began. */
export interface AuditExport {
  readonly head: AuditHead;
  readonly body: ReadableStream<Uint8Array>;
}

/**
 * Streams records as lines, page by page, as fast as the client reads them.
 * Contract: holds one page in memory. The export ends at the head that the chain had when the
 * export began. A whole export ends with the line `{"head":{"hash","seq"}}`, so that a reader
 * notices a broken connection. Throws when the first page cannot be read; a later failure breaks
 * the stream.
 */
export async function exportLines(
  read: (after: number, limit: number) => Promise<AuditPage>,
  format: (record: AuditRecord) => string,
  { isWhole }: { readonly isWhole: boolean },
): Promise<AuditExport> {
  const encoder = new TextEncoder();
  const first = await read(0, PAGE_RECORDS);
  const { head } = first;
  let page: AuditPage | undefined = first;
  const start = isWhole && first.removed ? auditLine({ removed: first.removed }) : "";
  const end = isWhole ? auditLine({ head }) : "";
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // A page may be empty, and every pull must either enqueue bytes or close.
        for (let text = page === first ? start : ""; page;) {
          text += linesOf(page, head, format);
          // A segment that was closed during the export is one of the next export.
          const { checkpoint } = page;
          if (isWhole && checkpoint && checkpoint.lastSeq < head.seq) {
            text += auditLine({ checkpoint });
          }
          page = await pageAfter(page, head, read);
          // A gap would look like a broken chain.
          if (isWhole && page?.removed) throw new Error("records were removed during the export");
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
  format: (record: AuditRecord) => string,
): string {
  return items
    .filter(({ seq }) => seq <= lastSeq)
    .map(format)
    .join("");
}

async function pageAfter(
  { next }: AuditPage,
  { seq: lastSeq }: AuditHead,
  read: (after: number, limit: number) => Promise<AuditPage>,
): Promise<AuditPage | undefined> {
  return next === undefined || next >= lastSeq ? undefined : read(next, PAGE_RECORDS);
}
