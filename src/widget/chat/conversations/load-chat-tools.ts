import type { ChatTools, ChatToolsPorts } from "./chat-tools.ts";

/**
 * Creates the loader of the tools. It loads them once, from beside this file. Undefined: they
 * cannot be loaded, or a newer version of the page has been deployed since.
 */
export function createToolsLoader(ports: ChatToolsPorts): () => Promise<ChatTools | undefined> {
  let loading: Promise<ChatTools | undefined> | undefined;
  return () => (loading ??= loadTools(ports));
}

async function loadTools(ports: ChatToolsPorts): Promise<ChatTools | undefined> {
  try {
    const { edition, createChatTools } = await import("./create-chat-tools.ts");
    return edition === EDITION ? createChatTools(ports) : undefined;
  } catch {
    return undefined;
  }
}
