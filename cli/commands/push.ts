import { parseArgs } from "node:util";
import { maskValues } from "../../src/protocol/secrets/mask-values.ts";
import type { JsonValue } from "../../src/protocol/json/value.ts";
import { type Command, parsing, UsageError } from "../command.ts";
import { projectFolder } from "../project/folders.ts";
import { applyPlan, type AppliedDocument, readBodies } from "../push/apply-plan.ts";
import { createClient } from "../push/deployment-client.ts";
import { type DocumentKey, kindOf, readLocalDocuments } from "../push/local-documents.ts";
import type { PlannedDocument } from "../push/plan.ts";
import { openRecord } from "../push/pushed-record.ts";
import { readPlan } from "../push/read-plan.ts";
import { formatApplied, formatPlan } from "../push/report.ts";
import { readTarget, type Target } from "../push/target.ts";

export const command: Command = {
  usage:
    "Usage: interlock push --env NAME [--dry-run] [--delete] [--renew KEY ...] [--json]\n" +
    "Makes policy, assistants, connections and providers of a deployment those of the folder\n" +
    "tenant. It shows each difference, and stops without a change when somebody changed a document\n" +
    "at the deployment since the last push. tenant/environments.json holds the address, the\n" +
    "variable INTERLOCK_TOKEN the token. See docs/environments.md.\n" +
    "--dry-run: only shows. --delete: deletes what was pushed and has no file any more.\n" +
    "--renew: sends the secret of a connection or a provider again, such as connections/crm.\n" +
    "Exit code 1: drift, or a document was not applied; the output says which were.",
  run: push,
};

interface Asked {
  readonly environment: string;
  readonly isDryRun: boolean;
  readonly deletes: boolean;
  readonly renewed: ReadonlySet<DocumentKey>;
  readonly isJson: boolean;
}

/** Compares the project with a deployment, shows the difference, and applies it. */
async function push(args: string[]): Promise<void> {
  const asked = readArguments(args);
  const project = projectFolder();
  const local = readLocalDocuments(project);
  const target = readTarget(project, asked.environment);
  const record = openRecord(project, asked.environment);
  const secrets = [target.token];
  const readVariable = (name: string): string => {
    const value = target.readVariable(name);
    secrets.push(value);
    return value;
  };
  const send = createClient(target);
  const { deletes, renewed } = asked;
  const pushed = record.hashes;
  const plan = await readPlan({ send, local, pushed, deletes, renewed, kinds: [] });
  refuseUnknown(renewed, plan);
  // Before anything is sent, and in a dry run too: a missing secret stops the whole push.
  const bodies = readBodies(plan, readVariable);
  const stops = asked.isDryRun || plan.some(({ action }) => action === "drift");
  const applied = stops ? [] : await applyPlan(plan, { send, record, bodies });
  print({ asked, project, target, plan, applied, mask: maskValues(secrets) });
  const isComplete = applied.every(({ outcome }) => outcome === "applied");
  if (!isComplete || plan.some(({ action }) => action === "drift")) process.exitCode = 1;
}

interface Report {
  readonly asked: Asked;
  readonly project: string;
  readonly target: Target;
  readonly plan: readonly PlannedDocument[];
  readonly applied: readonly AppliedDocument[];
  readonly mask: <Value extends JsonValue>(value: Value) => Value;
}

function print({ asked, project, target, plan, applied, mask }: Report): void {
  const { environment, isDryRun, isJson } = asked;
  if (isJson) {
    const documents = plan.map(({ key, action, note, differences }) => {
      const result = applied.find((one) => one.key === key);
      const { outcome, reason, warnings } = result ?? {};
      return { key, action, note, differences, outcome, reason, warnings };
    });
    const report = JSON.stringify({ environment, url: target.url, isDryRun, documents });
    console.log(JSON.stringify(mask(JSON.parse(report) as JsonValue)));
    return;
  }
  const colours = process.stdout.isTTY && process.env["NO_COLOR"] === undefined;
  const lines = [
    `${environment}: ${target.url}`,
    ...formatPlan(plan, colours),
    "",
    ...formatApplied(applied, project),
    ...(applied.length > 0 ? [] : [sayNothingChanged(plan, isDryRun)]),
  ];
  for (const line of lines) console.log(mask(line));
}

function sayNothingChanged(plan: readonly PlannedDocument[], isDryRun: boolean): string {
  const drifted = plan.filter(({ action }) => action === "drift").map(({ key }) => key);
  if (drifted.length > 0) {
    return (
      "Nothing was changed. Take over what the deployment has, and merge it with your files: " +
      `interlock pull --env NAME ${drifted.join(" ")}`
    );
  }
  const isSame = plan.every(({ action }) => action === "unchanged");
  return isSame || !isDryRun ? "Nothing to change." : "Nothing was changed: this was a dry run.";
}

function refuseUnknown(renewed: ReadonlySet<DocumentKey>, plan: readonly PlannedDocument[]): void {
  for (const key of renewed) {
    const kind = kindOf(key);
    if (kind !== "connections" && kind !== "providers") {
      throw new UsageError(`--renew takes connections/ID or providers/ID, not ${key}.`);
    }
    if (!plan.some((one) => one.key === key && one.local)) {
      throw new UsageError(`--renew: there is no file tenant/${key}.json.`);
    }
  }
}

function readArguments(args: string[]): Asked {
  const flag = { type: "boolean", default: false } as const;
  const { values } = parsing(() =>
    parseArgs({
      args,
      options: {
        env: { type: "string" },
        "dry-run": flag,
        delete: flag,
        renew: { type: "string", multiple: true, default: [] },
        json: flag,
      },
    }),
  );
  if (!values.env) throw new UsageError("--env is needed: a name of tenant/environments.json.");
  return {
    environment: values.env,
    isDryRun: values["dry-run"],
    deletes: values.delete,
    renewed: new Set(values.renew),
    isJson: values.json,
  };
}
