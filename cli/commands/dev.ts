import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { MODEL_WIRE_IDS } from "../../src/protocol/model/declaration.ts";
import { type Command, parsing, readNumber, UsageError } from "../command.ts";
import { DEFAULT_PORT } from "../development/default-port.ts";
import { actAs, PEOPLE_FILE, readPeople, type DevelopmentPeople } from "../development/people.ts";
import { type DevelopmentOptions, runHere } from "../development/run-here.ts";
import { projectFolder } from "../project/folders.ts";

const USAGE =
  "Usage: interlock dev [--port N] [--persist-to DIR] [--people FILE] [--as NAME]\n" +
  `       [--wire ${MODEL_WIRE_IDS.join("|")}] [--offline FILE] [--replace]\n` +
  "Runs the deployment on this machine, with an offline model unless a provider is configured.\n" +
  "--people: the people who need no token. --as: who acts first. --wire: of the offline model.\n" +
  "--offline: a module with more answers of the offline model; see docs/testing.md.\n" +
  "--replace: stores the files of tenant also where somebody changed a document over HTTP.";

export const command: Command = {
  usage: USAGE,
  run(args) {
    const { peopleFile, actor, ...options } = readArguments(args);
    const project = projectFolder();
    return runHere({ ...options, project, people: choosePeople(peopleFile, actor) });
  },
};

interface Arguments extends Omit<DevelopmentOptions, "project" | "people"> {
  readonly peopleFile: string;
  readonly actor: string | undefined;
}

function readArguments(args: string[]): Arguments {
  const text = { type: "string" } as const;
  const options = {
    port: text,
    "persist-to": text,
    people: text,
    as: text,
    wire: text,
    offline: text,
    replace: { type: "boolean", default: false },
  } as const;
  const { values } = parsing(() => parseArgs({ args, options }));
  const port = readNumber("port", values.port ?? String(DEFAULT_PORT), 65_535);
  const wire = MODEL_WIRE_IDS.find((id) => id === (values.wire ?? "openai"));
  if (!wire) {
    throw new UsageError(`--wire takes ${MODEL_WIRE_IDS.join(", ")}, not ${values.wire}`);
  }
  const persistTo = resolve(values["persist-to"] ?? ".wrangler/state");
  const { people: peopleFile = PEOPLE_FILE, as: actor, offline: offlineFile, replace } = values;
  return { port, persistTo, peopleFile, actor, wire, offlineFile, replaces: replace };
}

function choosePeople(file: string, actor: string | undefined): DevelopmentPeople {
  return parsing(() => {
    const all = readPeople(file);
    return actor === undefined ? all : actAs(all, actor);
  });
}
