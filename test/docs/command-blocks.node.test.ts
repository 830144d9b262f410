import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startDev, type DevServer } from "../shared/dev-server.ts";
import { checkCall } from "./check-call.ts";
import { blocksIn, nameOf, type CodeBlock } from "./code-blocks.ts";
import { bodyOf } from "./sent-bodies.ts";

/** Answers that a command may get besides a success, because of what was done before it. */
const EXCUSED: readonly {
  readonly request: RegExp;
  readonly status: number;
  readonly why: string;
}[] = [
  { request: /^PUT .*\/v1\/policy$/, status: 412, why: "development has a policy already" },
  { request: /^POST .*\/messages$/, status: 409, why: "the run has ended" },
  { request: /^POST .*\/outcome$/, status: 409, why: "no call has an unknown outcome" },
  { request: /^POST .*\/compensate$/, status: 409, why: "nothing undoes the call of this run" },
  { request: /^POST .*\/v1\/embed-tokens$/, status: 403, why: "only a server mints tokens" },
];

const POLICY = {
  allowedTools: ["core__get_current_time", "core__generate_title", "core__calculate"],
};

/** A block may take longer than a server keeps an idle connection. */
const CLOSING = { connection: "close" };

let server: DevServer;
let folder: string;
/** A run that has ended. */
let runId: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "interlock-docs-"));
  server = await startDev();
  runId = await ask("What time is it in Tokyo?");
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await server.end("SIGTERM");
});

async function ask(content: string): Promise<string> {
  const response = await post(
    "/v1/chat",
    JSON.stringify({ messages: [{ role: "user", content }] }),
  );
  await response.text();
  return response.headers.get("x-run-id") ?? "";
}

function post(path: string, body: string): Promise<Response> {
  const headers = { ...CLOSING, "content-type": "application/json" };
  return fetch(`${server.url}${path}`, { method: "POST", headers, body });
}

/** Sets the policy of the tenant and returns its revision. */
async function govern(policy: object): Promise<string> {
  const url = `${server.url}/v1/policy`;
  const etag = (await fetch(url, { headers: CLOSING })).headers.get("etag") ?? "";
  const headers = { ...CLOSING, "content-type": "application/json", "if-match": etag };
  const put = await fetch(url, { method: "PUT", headers, body: JSON.stringify(policy) });
  expect(put.status).toBe(200);
  return String((await put.json<{ revision: number }>()).revision);
}

/** Lets a call wait for people, and returns the id of its approval. */
async function openApproval(): Promise<string> {
  await govern({ ...POLICY, requireApprovalForEffects: ["state_change"] });
  await ask("Plan a call with Tokyo");
  const listed = await fetch(`${server.url}/v1/approvals`, { headers: CLOSING });
  const { approvals } = await listed.json<{ approvals: { approvalId: string }[] }>();
  return approvals[0]?.approvalId ?? "";
}

/** Puts in what a person puts in: a secret, and a tool that is registered. */
function withSamples(text: string): string {
  return text
    .replaceAll('"..."', '"secret-0123456789"')
    .replaceAll("office__roll_dice", "core__generate_title");
}

interface Ran {
  readonly status: number | null;
  readonly stderr: string;
  /** `200 POST http://…` */
  readonly answers: readonly string[];
  readonly calls: readonly (readonly string[])[];
}

async function run({ text }: CodeBlock): Promise<Ran> {
  const file = (name: string): string => join(folder, name);
  for (const name of ["answers", "calls"]) writeFileSync(file(name), "");
  writeFileSync(file("block.sh"), withSamples(text));
  writeFileSync(file("policy.json"), JSON.stringify(POLICY));
  const approval = text.includes("$ID") ? await openApproval() : "";
  const child = spawn("bash", [join(import.meta.dirname, "run-commands.sh")], {
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
    env: {
      PATH: process.env["PATH"],
      URL: server.url,
      RUN_ID: runId,
      ID: approval,
      REVISION: await govern(POLICY),
      ANSWERS: file("answers"),
      CALLS: file("calls"),
      BLOCK: file("block.sh"),
    },
  });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const [status] = (await once(child, "close")) as [number | null];
  const lines = (name: string): readonly string[] =>
    existsSync(file(name)) ? readFileSync(file(name), "utf8").split("\n").filter(Boolean) : [];
  return {
    status,
    stderr,
    answers: lines("answers").map((line) => line.replace(/ \S* (?=http)/, " ")),
    calls: lines("calls").map((line) => line.split("\u001f").slice(0, -1)),
  };
}

function isFine(answer: string): boolean {
  const status = Number(answer.slice(0, 3));
  const isExcused = EXCUSED.some(
    (known) => known.status === status && known.request.test(answer.slice(4)),
  );
  return (status >= 200 && status < 300) || isExcused;
}

test.each(blocksIn("sh").map((block) => [nameOf(block), block] as const))(
  "the commands of %s run",
  async (_name, block) => {
    const { status, stderr, answers, calls } = await run(block);
    expect([status, stderr]).toEqual([0, ""]);
    expect(answers.filter((answer) => !isFine(answer))).toEqual([]);
    for (const call of calls) expect(await checkCall(call)).toBe(undefined);
  },
);

test.each(
  blocksIn("json")
    .filter((block) => bodyOf(block) !== undefined)
    .map((block) => [nameOf(block), block] as const),
)("a run reads the body %s", async (_name, block) => {
  const answer = await post(`/v1/runs/${runId}${bodyOf(block)}`, block.text);
  // The run has ended, so that it only reads the body.
  expect([202, 409]).toContain(answer.status);
});
