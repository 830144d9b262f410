import type { ClientOptions } from "../../../src/client/ports.ts";
import type { QueueApi } from "../../../src/widget/approval/queue-api.ts";
import type { GameplanApi } from "./api.ts";

/** What the page works with. */
export interface PagePorts {
  readonly options: ClientOptions;
  readonly api: GameplanApi;
  readonly approvals: QueueApi;
  readonly chat: HTMLElement & {
    refreshUndo(): void;
    refreshApprovals(): void;
    suggest(questions: readonly string[] | undefined): void;
  };
  /** The assistant that the chat asks; undefined: the server chooses. */
  readonly assistantId: string | undefined;
  /** The workspace that the page names; undefined: the reader's first one. */
  readonly workspaceId: string | undefined;
  readonly onToken: (token: string) => void;
  readonly canAskForToken: () => boolean;
}
