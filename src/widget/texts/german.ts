import { GERMAN_APPROVAL } from "./german-approval.ts";
import { GERMAN_CHAT } from "./german-chat.ts";
import { GERMAN_CHATS } from "./german-chats.ts";
import { GERMAN_DESK } from "./german-desk.ts";
import { GERMAN_PACKET } from "./german-packet.ts";
import { GERMAN_REASONS } from "./german-reasons.ts";
import { GERMAN_RUN_WORDS } from "./german-run-words.ts";
import { GERMAN_RUNS } from "./german-runs.ts";
import { GERMAN_SERVER } from "./german-server.ts";

/**
 * The table of all texts: what each says in English, and in German. It stands in a file of its own,
 * which only pages in German, and pages with texts of their own, load.
 */
export const GERMAN = {
  ...GERMAN_CHAT,
  ...GERMAN_CHATS,
  ...GERMAN_APPROVAL,
  ...GERMAN_PACKET,
  ...GERMAN_DESK,
  ...GERMAN_RUNS,
  ...GERMAN_RUN_WORDS,
  ...GERMAN_REASONS,
  ...GERMAN_SERVER,
} as const;
