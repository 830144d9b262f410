import type { ClientOptions } from "../../../src/client/ports.ts";
import type { JsonObject } from "../../../src/protocol/json/value.ts";
import type { Result } from "../../../src/protocol/outcome/result.ts";
import type { CallFailure, GameplanApi } from "./api.ts";
import type { Route } from "./route.ts";

/** What a section reads and does. */
export interface SectionContext {
  readonly api: Pick<GameplanApi, "read">;
  /** For what is no tool of GamePlan. */
  readonly server: ClientOptions;
  /** The assistant that the chat asks; undefined: the server chooses. */
  readonly assistantId: string | undefined;
  /** The project of the page. */
  readonly projectId: string;
  readonly route: Route;
  /**
   * Shows another part of the project, or of another project. `isSilent` keeps the place in the
   * history.
   */
  readonly go: (route: Route, options?: { readonly isSilent: boolean }) => void;
  /** Adds a style sheet to the page, once. */
  readonly addSheet: (sheet: CSSStyleSheet) => void;
  /** Changes the address to what the section shows already. Nothing is read again. */
  readonly showAddress: (route: Route) => void;
  /** The address of a part of the project. */
  readonly link: (section: string, itemId?: string) => string;
  /**
   * Calls a tool that writes. The page shows its failure, or the approval that it waits for.
   * Answers the data of the call, or undefined when it did not succeed.
   */
  readonly act: (tool: string, args: JsonObject) => Promise<JsonObject | undefined>;
  /**
   * Tells whether a row belongs to the project of the page. Where it belongs to another one, the
   * page goes there.
   */
  readonly owns: (row: JsonObject) => boolean;
  /** Makes the example project, and shows it. */
  readonly makeExample: () => Promise<void>;
  /** Takes back a deletion. `entry` is one of the activity. */
  readonly takeBack: (entry: JsonObject) => Promise<void>;
  /** Shows a message above the section, until the next action or another address. */
  readonly tell: (message: string) => void;
}

/** One part of the page. */
export interface Section {
  /** Its name in addresses. */
  readonly name: string;
  readonly title: string;
  /** Kinds of rows whose changes reload it. */
  readonly entities: readonly string[];
  readonly show: ShowSection;
}

/** Reads what a part shows, and draws it. */
export type ShowSection = (
  context: SectionContext,
) => Promise<Result<readonly Node[], CallFailure>>;
