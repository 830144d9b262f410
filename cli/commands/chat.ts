import { parseArgs } from "node:util";
import { createClient } from "../../src/client/client.ts";
import { ACTING_HEADER } from "../../src/protocol/identity/development.ts";
import { runChat } from "../chat/chat-loop.ts";
import { openTerminal } from "../chat/terminal.ts";
import { type Command, parsing, UsageError } from "../command.ts";
import { DEFAULT_PORT } from "../development/default-port.ts";
import { isSafeAddress } from "../push/target.ts";

export const command: Command = {
  usage:
    "Usage: interlock chat [--url ADDRESS] [--token TOKEN | --as NAME] [--conversation ID]\n" +
    "         [--assistant ID] [--model NAME]\n" +
    "Chats with a deployment: each line is a message. The text goes to the standard output, and\n" +
    "tools, approvals and questions to the standard error. Ctrl-C stops the run, and once more the\n" +
    "chat. With a pipe in place of a terminal nobody is asked: a run that waits is left waiting.\n" +
    `--url: interlock dev at port ${DEFAULT_PORT} unless given. --token: or the variable\n` +
    "INTERLOCK_TOKEN, which other users of the machine cannot read. --as: the person of interlock dev.\n" +
    "Exit code 1: a run did not end with an answer.",
  run: chat,
};

async function chat(args: string[]): Promise<void> {
  const text = { type: "string" } as const;
  const options = {
    url: text,
    token: text,
    as: text,
    conversation: text,
    assistant: text,
    model: text,
  };
  const { values } = parsing(() => parseArgs({ args, options }));
  const { url = `http://127.0.0.1:${DEFAULT_PORT}`, as } = values;
  if (!isSafeAddress(url)) {
    throw new UsageError("--url takes an https address, or http on this machine.");
  }
  // The token of a deployment is not for interlock dev.
  const token = values.token ?? (as === undefined ? process.env["INTERLOCK_TOKEN"] : undefined);
  if (token !== undefined && as !== undefined) {
    throw new UsageError("--as is for interlock dev. Leave it out with --token.");
  }
  const client = createClient({
    baseUrl: url,
    token,
    fetch: (input, init) => {
      const headers = new Headers(init?.headers);
      if (as !== undefined) headers.set(ACTING_HEADER, as);
      // Node knows no cache. Threat: a redirect hands the token to another host.
      const { cache: _cache, ...rest } = init ?? {};
      return fetch(input, { ...rest, headers, redirect: "error" });
    },
  });
  const terminal = openTerminal();
  const { conversation: conversationId, assistant: assistantId, model } = values;
  const choices = {
    ...(conversationId !== undefined && { conversationId }),
    ...(assistantId !== undefined && { assistantId }),
    ...(model !== undefined && { model }),
  };
  const isWell = await runChat({ client, terminal }, choices);
  terminal.close();
  process.exitCode = isWell ? 0 : 1;
}
