import { parseArgs } from "node:util";
import { type Command, parsing, UsageError } from "../command.ts";
import { createProject, TEMPLATES, type Template } from "../scaffold/create-project.ts";
import { addTool, EFFECTS, type Effect } from "../scaffold/add-tool.ts";
import { addWorkspace } from "../scaffold/add-workspace.ts";

const USAGE =
  `Usage: interlock new NAME [--template ${Object.keys(TEMPLATES).join("|")}] [--from TARBALL]\n` +
  `       interlock new tool PACK NAME [--effect ${EFFECTS.join("|")}]\n` +
  "       interlock new workspace NAME\n" +
  "The first form makes a deployment in the folder NAME: a Worker, tools, policy, assistant, tests.\n" +
  "minimal has one tool, desk is a ticket desk with approvals. --from: the packed package to\n" +
  "install, instead of the one in the registry. The second form adds a tool to the deployment in\n" +
  "the current folder, with a test: interlock new tool desk find_ticket --effect read_only\n" +
  "The third form adds business data: the file of its tables and operations, and what the entry and\n" +
  "each environment of wrangler.toml need. It leaves what is there.";

export const command: Command = {
  usage: USAGE,
  run([first, ...rest]) {
    if (first === "tool") newTool(rest);
    else if (first === "workspace") newWorkspace(rest);
    else newProject(first === undefined ? [] : [first, ...rest]);
  },
};

function newProject(args: string[]): void {
  const options = {
    template: { type: "string", default: "minimal" },
    from: { type: "string" },
  } as const;
  const { values, positionals } = parsing(() =>
    parseArgs({ args, options, allowPositionals: true }),
  );
  const [name, ...more] = positionals;
  if (name === undefined || more.length > 0) throw new UsageError("One name is needed.");
  if (!Object.hasOwn(TEMPLATES, values.template)) {
    throw new UsageError(`--template takes ${Object.keys(TEMPLATES).join(" or ")}.`);
  }
  createProject(name, { template: values.template as Template, tarball: values.from });
  console.log(
    `Made ${name}.\n\n  cd ${name}\n  npm install\n  npm run dev     # open the address, ask "What time is it in Tokyo?"\n  npm test\n`,
  );
}

function newTool(args: string[]): void {
  const options = { effect: { type: "string", default: "read_only" } } as const;
  const { values, positionals } = parsing(() =>
    parseArgs({ args, options, allowPositionals: true }),
  );
  const [pack, name, ...more] = positionals;
  if (pack === undefined || name === undefined || more.length > 0) {
    throw new UsageError("A pack and a name are needed.");
  }
  const effect = EFFECTS.find((known) => known === values.effect);
  if (!effect) throw new UsageError(`--effect takes ${EFFECTS.join(", ")}.`);
  const { toolId, files } = addTool(pack, name, effect satisfies Effect);
  for (const file of files) console.log(`wrote ${file}`);
  console.log(
    `\nNext: say in the tool's file what ${toolId} does, allow it in tenant/policy.json, then\n` +
      "npx interlock contracts update, and npm test. npx interlock check refuses a tool that still\n" +
      "says what is in the file now.",
  );
}

function newWorkspace(args: string[]): void {
  const { positionals } = parsing(() => parseArgs({ args, options: {}, allowPositionals: true }));
  const [name, ...more] = positionals;
  if (name === undefined || more.length > 0) throw new UsageError("One name is needed.");
  const files = addWorkspace(name);
  if (files.length === 0) return console.log(`The workspace ${name} has everything.`);
  for (const file of files) console.log(`wrote ${file}`);
  console.log(
    `\nNext: write the tables and operations of ${name}, a tool that calls them with\n` +
      `workspace: "${name}", and name its members in tenant/policy.json.`,
  );
}
