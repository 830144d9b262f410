import type { DataClassification } from "../tool/data-class.ts";

/**
 * Where text that others may have written comes from. Nothing comes from a person's own words, the
 * operator's instructions and the outputs of trusted tools.
 */
export type Source =
  | {
      readonly kind: "tool";
      readonly tool: string;
      /** Id of the call of this conversation that returned it. */
      readonly call?: string;
    }
  /** What the page or the deployment told about the conversation. */
  | { readonly kind: "context" }
  /** A file that a person sent. */
  | { readonly kind: "file" }
  /** An answer or a result that a client posted as history. */
  | { readonly kind: "history" }
  /** Earlier sources that were left out. */
  | { readonly kind: "more" };

/** Sources, the newest last. None: no text of others was shown. */
export type Sources = readonly Source[];

/** What has sources. Absent: it has none. */
export interface Labelled {
  readonly sources?: Sources;
  /** Classes of the data of tools. What a client posts has none. */
  readonly dataClasses?: readonly DataClassification[];
}

/** What something is labelled with: where its text comes from, and the classes of its data. */
export interface Labels {
  readonly sources: Sources;
  readonly dataClasses: readonly DataClassification[];
}

/** Most sources of one thing that are told apart. */
const MAX_SOURCES = 16;

/**
 * Joins sources. Each kind stands once, and each tool once, with its newest call. Of more than 16
 * the newest stay, and `more` says so.
 * Contract: pure; with nothing to add, known sources are returned unchanged. What had a source
 * keeps one.
 */
export function joinSources(known: Sources, added: Sources = []): Sources {
  if (added.length === 0) return known;
  const newest = new Map<string, Source>();
  for (const source of [...known, ...added]) {
    const key = source.kind === "tool" ? `tool ${source.tool}` : source.kind;
    newest.delete(key);
    newest.set(key, source);
  }
  const hadMore = newest.delete("more");
  const kept = [...newest.values()];
  return hadMore || kept.length > MAX_SOURCES
    ? [{ kind: "more" }, ...kept.slice(-MAX_SOURCES)]
    : kept;
}

/** Leaves out which calls returned the texts: their ids say nothing outside the conversation. */
export function nameSources(sources: Sources): Sources {
  return sources.map((source) =>
    source.kind === "tool" ? { kind: source.kind, tool: source.tool } : source,
  );
}

/** Joins classes of data, each once. Contract: pure. */
export function joinClasses(
  known: readonly DataClassification[],
  added: readonly DataClassification[] = [],
): readonly DataClassification[] {
  return added.length === 0 ? known : [...new Set([...known, ...added])];
}

/** Labels something. Contract: an empty label is not added. */
export function labelled(
  sources: Sources,
  dataClasses: readonly DataClassification[] = [],
): Labelled {
  return {
    ...(sources.length > 0 && { sources }),
    ...(dataClasses.length > 0 && { dataClasses }),
  };
}

/** The sources of a call, in its records. Absent: none. */
export interface MadeAfter {
  /** What the model had been shown, in this conversation, when it proposed the call. */
  readonly after?: Sources;
}

/** Contract: without sources nothing is added. */
export function madeAfter(sources: Sources = []): MadeAfter {
  return sources.length > 0 ? { after: sources } : {};
}

/** Describes sources for people: "the output of mail__read, a file". */
export function describeSources(
  sources: readonly { readonly kind: string; readonly tool?: string }[],
): string {
  const words = sources.map(({ kind, tool }) =>
    tool === undefined ? (WORDS.get(kind) ?? "other text") : `the output of ${tool}`,
  );
  return words.join(", ");
}

const WORDS: ReadonlyMap<string, string> = new Map([
  ["context", "context of the page"],
  ["file", "a file"],
  ["history", "history that a client sent"],
  ["more", "earlier sources"],
] satisfies (readonly [Source["kind"], string])[]);
