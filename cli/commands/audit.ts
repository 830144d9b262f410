import { createReadStream, existsSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { readLines } from "../bounded-input.ts";
import { type Command, parsing, UsageError } from "../command.ts";
import { verifyChain } from "../audit/verify-chain.ts";

const USAGE =
  "Usage: interlock audit verify EXPORT.jsonl [--head HASH] [--known HASH] [--key KEY]\n" +
  "       interlock audit verify --url https://… --token-file FILE [--head HASH] [--known HASH]\n" +
  "         [--key KEY]\n" +
  "--head: the x-audit-head of this export, its last record. --known: that of an earlier one.\n" +
  "--key: the x-audit-key of the deployment. With --url it is the one that the deployment sends.\n" +
  "  After a rotation of RUN_ID_SECRET also that of before: --key may be given several times.\n" +
  "Exit code 1: the chain is broken.";

export const command: Command = {
  usage: USAGE,
  async run([action, ...args]) {
    if (action !== "verify") throw new UsageError("verify is needed.");
    await verify(args);
  },
};

/** Checks the hash chain of an audit export. */
async function verify(args: string[]): Promise<void> {
  const { input, head, known, keys } = await open(readArguments(args));
  const progress = (count: number): void => console.error(`${count} records hold so far`);
  const verdict = await verifyChain(readLines(input), { head, known, keys, progress });
  if (verdict.kind === "broken") {
    console.log(`BROKEN at line ${verdict.line}: ${verdict.why}`);
    process.exitCode = 1;
    return;
  }
  const { count, segments, lastHash, removed } = verdict;
  console.log(`The chain holds: ${count} records, the last one is ${lastHash}`);
  if (segments > 0) console.log(`Signed checkpoints close ${segments} segments of it.`);
  if (removed) {
    console.log(`Before them ${removed.count} were removed, up to ${removed.lastAt}, signed.`);
  }
  if ((removed || segments > 0) && keys.length === 0) {
    console.log("Without --key nobody can tell whose key signed that.");
  }
  if (head === undefined) {
    console.log("Without --head nobody can tell whether records were cut off at the end.");
  }
}

interface Opened {
  readonly input: AsyncIterable<Uint8Array>;
  readonly head: string | undefined;
  readonly known: string | undefined;
  readonly keys: readonly string[];
}

async function open(asked: Arguments): Promise<Opened> {
  const { file, url, tokenFile, head, known, keys } = asked;
  if (file !== undefined) return { input: createReadStream(file), head, known, keys };
  const token = readFileSync(tokenFile ?? "", "utf8").trim();
  const address = new URL("/v1/audit?format=jsonl", url);
  const answer = await fetch(address, { headers: { authorization: `Bearer ${token}` } });
  if (!answer.ok || !answer.body) {
    throw new UsageError(`The deployment answered ${answer.status}.`);
  }
  const sentKey = answer.headers.get("x-audit-key");
  const accepted = keys.length === 0 && sentKey !== null ? [sentKey] : keys;
  return { input: answer.body, head, known, keys: accepted };
}

interface Arguments {
  readonly file?: string | undefined;
  readonly url?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly head: string | undefined;
  readonly known: string | undefined;
  readonly keys: readonly string[];
}

function readArguments(args: string[]): Arguments {
  const text = { type: "string" } as const;
  const key = { ...text, multiple: true } as const;
  const options = { head: text, known: text, key, url: text, "token-file": text };
  const { values, positionals } = parsing(() =>
    parseArgs({ args: joinKeys(args), options, allowPositionals: true }),
  );
  const { url, head, known, key: keys = [], "token-file": tokenFile } = values;
  const [file, ...more] = positionals;
  const isFile = file !== undefined && url === undefined && tokenFile === undefined;
  const isRemote = file === undefined && url !== undefined && tokenFile !== undefined;
  if (more.length > 0 || (!isFile && !isRemote)) {
    throw new UsageError("One file, or --url and --token-file are needed.");
  }
  const path = file ?? tokenFile ?? "";
  if (!existsSync(path)) throw new UsageError(`There is no file ${path}.`);
  if (url !== undefined && !URL.canParse(url)) throw new UsageError("--url is no address.");
  return { file, url, tokenFile, head, known, keys };
}

/** A key may begin with a hyphen, which would be taken for the next option. */
function joinKeys(args: readonly string[]): string[] {
  return args.flatMap((arg, index) => {
    if (args[index - 1] === "--key") return [];
    const value = args[index + 1];
    return arg === "--key" && value !== undefined ? [`--key=${value}`] : [arg];
  });
}
