import { CommandError, messageOf, UsageError, type Command } from "./command.ts";

interface Entry {
  /** One line for the list of commands. */
  readonly summary: string;
  /** Most commands need packages that the others do not, so each is loaded at its use. */
  readonly load: () => Promise<{ readonly command: Command }>;
}

const COMMANDS: Readonly<Record<string, Entry>> = {
  new: {
    summary: "makes a deployment in a new folder, or adds a tool or a workspace",
    load: () => import("./commands/new.ts"),
  },
  dev: { summary: "runs the deployment on this machine", load: () => import("./commands/dev.ts") },
  build: {
    summary: "compiles the contracts and lays out the pages; wrangler runs it",
    load: () => import("./commands/build.ts"),
  },
  contracts: {
    summary: "check, update or test: compares the contracts with their lock, or tests them",
    load: () => import("./commands/contracts.ts"),
  },
  check: {
    summary: "says what an environment lacks before a deploy",
    load: () => import("./commands/check.ts"),
  },
  push: {
    summary: "makes the documents of a deployment those of the folder tenant",
    load: () => import("./commands/push.ts"),
  },
  pull: {
    summary: "takes over the documents of a deployment into the folder tenant",
    load: () => import("./commands/pull.ts"),
  },
  seed: {
    summary: "loads rows of a file into a workspace, through a tool",
    load: () => import("./commands/seed.ts"),
  },
  models: {
    summary: "lists the configured models, and which of them retire soon",
    load: () => import("./commands/models.ts"),
  },
  explain: {
    summary: "says what happened in a run, gate by gate, and why it ended",
    load: () => import("./commands/explain.ts"),
  },
  export: {
    summary: "writes recorded runs of a deployment into a folder, for evaluate",
    load: () => import("./commands/export.ts"),
  },
  evaluate: {
    summary: "looks at recorded runs in the 12 test modes of a tool contract",
    load: () => import("./commands/evaluate.ts"),
  },
  logs: {
    summary: "writes the log of a deployment for people, with the places of your sources",
    load: () => import("./commands/logs.ts"),
  },
  chat: {
    summary: "chats with a deployment from a terminal, approvals included",
    load: () => import("./commands/chat.ts"),
  },
  token: {
    summary: "makes a bearer token, or a JWT for tests",
    load: () => import("./commands/token.ts"),
  },
  decode: {
    summary: "shows how the answers of a model's server are decoded",
    load: () => import("./commands/decode.ts"),
  },
  audit: {
    summary: "verify: checks the hash chain of an audit export",
    load: () => import("./commands/audit.ts"),
  },
  size: {
    summary: "prints the size of the Worker, and what it is made of",
    load: () => import("./commands/size.ts"),
  },
};

/**
 * Runs the command that the arguments name. It prints, and sets `process.exitCode`.
 * Fails: throws what no command expects.
 */
export async function runCommand([name, ...args]: readonly string[]): Promise<void> {
  if (name === undefined || name === "--help" || name === "help") return printCommands();
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!entry) return fail(2, `There is no command ${name}. Run interlock --help.`);
  const { command } = await entry.load();
  if (args.includes("--help")) return console.log(command.usage);
  try {
    await command.run([...args]);
  } catch (error) {
    if (error instanceof UsageError) fail(2, `${messageOf(error)}\n${command.usage}`);
    else if (error instanceof CommandError) fail(1, messageOf(error));
    else throw error;
  }
}

function printCommands(): void {
  console.log("Usage: interlock COMMAND [options]\n");
  for (const [name, { summary }] of Object.entries(COMMANDS)) {
    console.log(`  ${name.padEnd(10)} ${summary}`);
  }
  console.log("\ninterlock COMMAND --help describes a command. Exit code 2: wrong arguments.");
}

function fail(code: number, text: string): void {
  console.error(text);
  process.exitCode = code;
}
