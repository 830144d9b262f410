import { createHash } from "node:crypto";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { toCanonicalJson } from "../../src/protocol/json/canonical-hash.ts";
import { invoke, read } from "../shared/invoke.ts";
import { ended } from "../shared/people.ts";
import { rowsOf, transcriptOf, untilState } from "../shared/run-object.ts";
import { bindings, chat, govern, runIdOf, seedPolicies, send } from "../shared/worker.ts";
import { ANY_FLOW } from "../workers/lab-approvals.ts";
import { faults, journey, JOURNEY_TOOLS } from "../workers/lab-sagas.ts";

const PIN = "4831";
const SAGA = "lab__book_journey";
const printed: string[] = [];

beforeAll(seedPolicies);
beforeEach(async () => {
  printed.length = 0;
  journey.length = 0;
  faults.clear();
  for (const method of ["log", "warn", "error"] as const) {
    vi.spyOn(console, method).mockImplementation((text: unknown) => {
      printed.push(String(text));
    });
  }
  await govern({ ...ANY_FLOW, allowedTools: JOURNEY_TOOLS });
});
afterEach(() => void vi.restoreAllMocks());

/** Everything about some runs that leaves their objects, and what was logged. */
async function seenOf(runIds: readonly string[]): Promise<string> {
  const get = async (path: string): Promise<string> =>
    (await send(path, { caller: "bendable" })).text();
  const ofRun = ["", "/events", "/trace"];
  const paths = runIds.flatMap((runId) => ofRun.map((path) => `/v1/runs/${runId}${path}`));
  const audit = ["", "?format=jsonl", "?view=prompt_history", "?format=jsonl&view=prompt_history"];
  const lists = ["/v1/runs", "/v1/outcomes", "/v1/approvals"];
  const texts = await Promise.all(
    [...paths, ...audit.map((how) => `/v1/audit${how}`), ...lists].map(get),
  );
  const { keys } = await bindings.IDEMPOTENCY.list();
  const kept = await Promise.all(keys.map(({ name }) => bindings.IDEMPOTENCY.get(name)));
  return JSON.stringify([texts, keys, kept, printed]);
}

/** The plain hashes of arguments, in each form in which a text may hold them. */
function hashesOf(args: object): readonly string[] {
  return [JSON.stringify(args), toCanonicalJson(args as never)].flatMap((text) => {
    const digest = createHash("sha256").update(text).digest();
    return [
      digest.toString("hex"),
      digest.toString("base64").slice(0, 43),
      digest.toString("base64url"),
    ];
  });
}

test("what the steps of a saga and their undoing know of a PIN never leaves the run's object", async () => {
  const args = JSON.stringify({ where: "Ulm", pin: PIN });
  const response = await chat(
    [{ calls: [{ id: "c", name: SAGA, args }] }, { text: ["ok"] }],
    "bendable",
  );
  const runId = runIdOf(response);
  const stream = await response.text();
  await ended(runId, "bendable");
  const undo = `/v1/runs/${runId}/invocations/inv_3/compensate`;
  const undone = await read(await send(undo, { caller: "bendable", method: "POST" }));
  expect(undone.status).toBe(200);
  faults.set("pay", "fails");
  faults.set("cancel_train", "fails");
  const failing = { caller: "bendable", key: "step-secrecy" } as const;
  const failed = await read(await invoke(SAGA, { where: "Ulm", pin: PIN }, failing));
  await untilState(runId, { toolCalls: [{}, {}, { state: "COMPENSATED" }, {}, {}] }, "bendable");
  const runIds = [runId, undone.runId, failed.runId];
  await expect.poll(() => seenOf([])).toContain("undo.ended");
  const raw = JSON.stringify(await rowsOf(runId, "SELECT * FROM invocations"));
  // The run's object needs both to go on.
  expect(raw).toContain(`secret-${PIN}`);
  const seen = [stream, JSON.stringify([undone, failed]), await seenOf(runIds)].join("\n");
  const told = await transcriptOf(runId, "bendable");
  expect(seen).toContain("Ulm");
  expect(`${seen}${JSON.stringify(told.filter(({ role }) => role === "tool"))}`).not.toContain(
    "secret-",
  );
  for (const pin of [PIN, `secret-${PIN}`]) {
    const known = hashesOf({ where: "Ulm", pin });
    expect(known.filter((hash) => seen.includes(hash))).toEqual([]);
  }
});
