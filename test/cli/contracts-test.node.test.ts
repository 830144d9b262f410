import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ContractLock } from "../../cli/contracts/lock/contract-lock.ts";
import { LOCK_NAME, readLock } from "../../cli/contracts/lock/lock-folder.ts";
import type { AnyToolContract } from "../../src/contracts/define/definition.ts";
import { TOOLS } from "../../src/tools/index.ts";
import { runCommand } from "../shared/command-process.ts";
import { copyRepository, keepOnlyTools } from "../shared/copied-repository.ts";
import { sampleOfGroups } from "../shared/sample.ts";
import { EXCHANGES, PLANTED_HTTP } from "./planted-http.ts";
import { failedWithChange } from "./with-change.ts";

const ROOT = join(import.meta.dirname, "../..");
const PLANTED = "test/cli/planted-contracts.ts";
const MODES = [
  "schema",
  "semantic",
  "permission",
  "approval",
  "idempotency",
  "retry",
  "repair",
  "observation",
  "compensation",
  "injection",
  "drift",
  "replay",
  "vain",
];

interface Tested {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Verdicts by contract and mode. */
  readonly rows: ReadonlyMap<string, Readonly<Record<string, string>>>;
}

async function run(cwd: string, ...args: string[]): Promise<Tested> {
  const { exitCode: status, stdout, stderr } = await runCommand(["contracts", ...args], cwd);
  const [table = ""] = stdout.split("\n\n");
  const [[, ...modes] = [], ...rows] = table.split("\n").map((line) => line.split(/ +/));
  return {
    status,
    stdout,
    stderr,
    rows: new Map(
      rows.map(([key = "", ...cells]) => [
        key,
        Object.fromEntries(cells.map((cell, column) => [modes[column], cell])),
      ]),
    ),
  };
}

function failedIn({ rows }: Tested, key: string): readonly string[] {
  return Object.entries(rows.get(key) ?? { "no row": "fail" })
    .filter(([, verdict]) => verdict === "fail")
    .map(([mode]) => mode);
}

/** What a contract promises decides how it is tested. */
const kindOf = (contract: AnyToolContract): string => {
  const { sideEffectClass, transactional, workspace, saga, ask } = contract;
  const { semantics, confirmationRequired, verificationRequired } = transactional;
  const promises = [semantics, confirmationRequired, verificationRequired, workspace];
  return JSON.stringify([sideEffectClass, ...promises, saga !== undefined, ask !== undefined]);
};
const SAMPLE = sampleOfGroups(TOOLS, kindOf, 8).map(({ name }) => name);

test("contracts of each kind of this deployment pass every mode that applies to them", async () => {
  const tested = await run(ROOT, "test", ...SAMPLE.flatMap((name) => ["--tool", name]));
  expect(tested.status).toBe(0);
  expect(tested.rows.size).toBe(SAMPLE.length);
  for (const [key, row] of tested.rows) {
    expect([key, Object.keys(row)]).toEqual([key, MODES]);
    for (const verdict of Object.values(row)) expect(["pass", "-"]).toContain(verdict);
  }
  expect(tested.stdout).toMatch(/\ncontracts: versions \d+, modes 13: \d+ pass, 0 fail, /);
});

test("--tool tests one tool, --verbose prints each check, and an unknown tool is an error", async () => {
  const one = await run(ROOT, "test", "--tool", "core__calculate@1.0.0", "--verbose");
  expect(one.stdout).toContain("core__calculate@1.0.0  Prompt-Injection: pass\n  ok   ");
  expect(one.stdout).not.toContain("core__generate_title");
  expect(one.status).toBe(0);
  expect((await run(ROOT, "test", "--tool", "core__calc")).status).toBe(2);
  expect((await run(ROOT, "check", "--verbose")).status).toBe(2);
});

/** A gate that a change of the sources opens: the mode that has to fail, the file, both texts. */
type OpenGate = readonly [mode: string, file: string, from: string, to: string];
/** No planted contract fails these modes, so each keeps a gate in a sample. */
const ONLY_BY_GATES: ReadonlySet<string> = new Set(["permission", "repair", "injection"]);
const groupOf = ([mode]: OpenGate): string => (ONLY_BY_GATES.has(mode) ? mode : "planted too");

const OPEN_GATES: readonly OpenGate[] = [
  [
    "schema",
    "src/contracts/bind/classify-issues.ts",
    '=== "validation") return "OUT_OF_BOUNDS"',
    "=== 0) return",
  ],
  [
    "semantic",
    "src/runner/gates/check-rules.ts",
    "return ruled.ok ? PASSED : ruled",
    "return PASSED",
  ],
  ["permission", "src/runner/gates/authorise.ts", 'if (mayRun !== "allow")', "if (0)"],
  ["permission", "src/protocol/policy/grant.ts", "if (!tools.includes(toolId))", "if (0)"],
  [
    "approval",
    "src/protocol/policy/decide.ts",
    "policy.requireApprovalForClasses.includes(tool.sideEffectClass)",
    "false",
  ],
  ["idempotency", "src/runner/authority/open-authority.ts", "operationIdOf(context)", '""'],
  [
    "idempotency",
    "src/runner/outcome/exec-result.ts",
    "idempotency_hit: true",
    "idempotency_hit: false",
  ],
  [
    "retry",
    "src/runner/retry/decide-next.ts",
    "attempt <= tool.maxRetries",
    "attempt < tool.maxRetries",
  ],
  ["repair", "src/runner/call-history.ts", "if (ends)", "if (0)"],
  ["observation", "src/contracts/bind/bind-tool.ts", "redact(args, argsAllowlist)", "args"],
  ["observation", "src/contracts/bind/redact.ts", "rule === true ? child", "rule ? child"],
  ["injection", "src/protocol/text/label-data.ts", "return MARKUP.test(json)", "return false"],
  ["injection", "src/runner/output/normalise-output.ts", "tool.isOutputUntrusted", "false"],
  [
    "injection",
    "src/runner/author-code/ask-tool.ts",
    "isUntrusted ? neutralise(text).value",
    "false ? text",
  ],
  [
    "drift",
    "src/runner/output/normalise-output.ts",
    "tool.validateOutput(output)",
    "{ ok: true, value: output } as never",
  ],
  ["replay", "src/loop/replay/tools.ts", "...ok(outputOf(record))", "...ok({})"],
  ["replay", "src/protocol/outcome/observation.ts", "facts.traceId", "String(Math.random())"],
];

/** For a write that can be undone. */
const OPEN_FOR_UNDO: readonly OpenGate[] = [
  [
    "approval",
    "src/runner/approval/require-approval.ts",
    "if (!known && !isAskedBy(ports, given.policy, subject)) return",
    "if (1) return",
  ],
  [
    "approval",
    "src/runner/approval/verify.ts",
    "isMet(record, counted)",
    "record.votes.length > 0",
  ],
  [
    "idempotency",
    "src/runner/execute-call.ts",
    "if (mutates(tool) || approval) await journal",
    "if (0) await journal",
  ],
  [
    "idempotency",
    "src/protocol/invocation/record.ts",
    "hasUnknownOutcome(record) && record.binding?.mutates === true",
    "false",
  ],
  [
    "idempotency",
    "src/runner/invocation/invocation-ledger.ts",
    "bound.idempotencyKey !== binding.idempotencyKey",
    "false",
  ],
  [
    "retry",
    "src/runner/retry/decide-next.ts",
    "dispatchStateOf(call, result)).retryable",
    "dispatchStateOf({ tool }, { ...result, dispatched: false })).retryable",
  ],
];

test.each([...OPEN_GATES, ...OPEN_FOR_UNDO])(
  "the gate of the mode %s stands in %s, also where a sample leaves it closed",
  (_mode, file, from) => {
    expect(readFileSync(join(ROOT, file), "utf8")).toContain(from);
  },
);

describe("planted faults", () => {
  let copy: string;
  let lock: ContractLock;
  let tested: Tested;

  beforeAll(async () => {
    copy = copyRepository("test");
    keepOnlyTools(copy);
    // The planted tools take the place of all others, so nothing of the others is locked.
    rmSync(join(copy, "apps/gameplan", LOCK_NAME), { recursive: true });
    writeFileSync(
      join(copy, "src/tools/index.ts"),
      `export { PLANTED as TOOLS } from "../../${PLANTED}";\n`,
    );
    for (const { name } of [...PLANTED_HTTP, { name: "planted__vain-http" }])
      giveExchanges(name, EXCHANGES);
    expect((await run(copy, "update")).status).toBe(0);
    const read = readLock(copy);
    if (!read.ok) throw new Error(read.failure);
    ({ lock } = read.value);
    // Once it is locked, the last one takes less than it promised.
    edit(PLANTED, 'drift = defineTool({ ...read, name: "planted__drift"', (fault) => {
      return `${fault}, input: v.strictObject({ text: v.pipe(v.string(), v.maxLength(5)) })`;
    });
    tested = await run(copy, "test");
  });

  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  function giveExchanges(tool: string, exchanges: unknown): void {
    const file = join(copy, "src/tools", `${tool}.exchanges.json`);
    writeFileSync(file, JSON.stringify({ tool, exchanges }));
  }

  function edit(file: string, from: string, to: (from: string) => string): void {
    const path = join(copy, file);
    const text = readFileSync(path, "utf8");
    expect(text).toContain(from);
    writeFileSync(path, text.replace(from, to));
  }

  test("a command with a failed cell exits with 1", () => expect(tested.status).toBe(1));

  test("a contract without possible arguments fails every mode", () => {
    expect(failedIn(tested, "planted__untestable@1.0.0")).toEqual(MODES);
    expect(tested.stdout).toContain("no arguments could be made that it takes; give it an example");
  });

  test("without a lock, the drift mode fails", async () => {
    const path = join(copy, LOCK_NAME);
    renameSync(path, `${path}.away`);
    const unlocked = await run(copy, "test", "--tool", "sound__everything");
    renameSync(`${path}.away`, path);
    expect(failedIn(unlocked, "sound__everything@1.0.0")).toEqual(["drift"]);
    expect(unlocked.stdout).toContain("contracts.lock is missing");
  });

  // Scopes, repair and the wrapper are the runner's, which no contract can break; see below.
  test.each([
    ["planted__schema", "schema"],
    ["planted__semantic", "semantic"],
    ["planted__approval", "approval"],
    ["planted__idempotency", "idempotency"],
    ["planted__retry", "retry"],
    ["planted__observation", "observation"],
    ["planted__observation-echo", "observation"],
    ["planted__compensation", "compensation"],
    ["planted__drift", "drift"],
    ["planted__replay", "replay"],
    ["planted__http-idempotency", "idempotency"],
    ["planted__http-observation", "observation"],
    ["planted__http-unanswered", "observation"],
    ["planted__vain", "vain"],
    ["planted__vain-http", "vain"],
    ["planted__vain-rule", "vain"],
  ])("the contract %s fails the mode %s, and no other", (name, mode) => {
    expect(failedIn(tested, `${name}@1.0.0`)).toEqual([mode]);
  });

  test("contracts without a fault fail no mode", () => {
    expect(tested.rows.get("sound__everything@1.0.0")).toEqual({
      ...Object.fromEntries(MODES.map((mode) => [mode, "pass"])),
      compensation: "-",
      vain: "-",
    });
    expect(tested.rows.get("sound__close-shelf@1.0.0")).toMatchObject({ vain: "pass" });
    expect(failedIn(tested, "sound__close-shelf@1.0.0")).toEqual([]);
    expect(tested.rows.get("sound__mail@1.0.0")).toMatchObject({
      approval: "pass",
      idempotency: "pass",
      compensation: "pass",
      replay: "pass",
    });
    expect(failedIn(tested, "sound__mail@1.0.0")).toEqual([]);
  });

  test("a write over HTTP passes every mode with its sample exchanges", () => {
    expect(failedIn(tested, "sound__open-ticket@1.0.0")).toEqual([]);
  });

  test("a request without a sample exchange is named", () => {
    expect(tested.stdout).toContain("no sample exchange answers GET https://rates.example/");
  });

  test.each([
    ["sound__nobody", EXCHANGES, 'there is no tool "sound__nobody"'],
    ["sound__mail", [{ request: { path: [] }, response: {} }], "must have upstream and path"],
    ["sound__mail", [{ request: EXCHANGES[0]?.request, response: { status: 99 } }], "status: "],
  ])("a file of exchanges that is wrong stops the test: %s", async (tool, exchanges, reason) => {
    giveExchanges(tool, exchanges);
    const refused = await run(copy, "test");
    rmSync(join(copy, "src/tools", `${tool}.exchanges.json`));
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain(`tools/${tool}.exchanges.json: `);
    expect(refused.stderr).toContain(reason);
  });

  test("a version that no longer runs is compared only with its lock", () => {
    const verdicts = MODES.map((mode) => [mode, mode === "drift" ? "pass" : "-"]);
    expect(tested.rows.get("sound__retired@1.0.0")).toEqual(Object.fromEntries(verdicts));
  });

  test.each(sampleOfGroups(OPEN_GATES, groupOf, 3))(
    "the mode %s fails, and no other, where a gate is open: %s",
    async (mode, file, from, to) => {
      const failed = await failedWithChange("sound__everything", lock, { file, from, to });
      expect(failed).toEqual([mode]);
    },
  );

  test.each(sampleOfGroups(OPEN_FOR_UNDO, groupOf, 3))(
    "a write that can be undone fails the mode %s where a gate is open: %s",
    async (mode, file, from, to) => {
      const failed = await failedWithChange("sound__mail", lock, { file, from, to });
      expect(failed).toEqual([mode]);
    },
  );
});
