import { beforeAll, describe, expect, test } from "vitest";
import { obey } from "../fakes/scripted-model.ts";
import {
  bindings,
  postChat,
  putConnection,
  runIdOf,
  seedPolicies,
  send,
  splitEvents,
} from "../shared/worker.ts";
import { echoes } from "../workers/lab-leaks.ts";

/** Every encoding writes it in another way. */
const SECRET = "zq7/Kp+3vX%Lm~'w9\\tR";
const NUMBER = "7316250498";

beforeAll(async () => {
  await seedPolicies();
  await putConnection("service", { kind: "bearer", token: SECRET }, "lab");
  await putConnection("number", { kind: "bearer", token: NUMBER }, "lab");
});

/**
 * Runs one call, and lets the model repeat everything that it was shown. Returns all that leaves:
 * the stream, the run, the lists and KV.
 */
async function everythingAfter(
  name: string,
  args: object,
  connectionId = "service",
): Promise<string> {
  const call = { id: "c", name, args: JSON.stringify(args) };
  const response = await postChat(
    {
      messages: [{ role: "user", content: obey({ calls: [call] }) }],
      connectionIds: [connectionId],
    },
    "lab",
  );
  const stream = await response.text();
  const runId = runIdOf(response);
  expect(splitEvents(stream).length).toBeGreaterThan(3);
  const paths = [`/v1/runs/${runId}`, `/v1/runs/${runId}/events`, "/v1/runs"];
  const answers = paths.map(async (path) => (await send(path, { caller: "lab" })).text());
  const { keys } = await bindings.IDEMPOTENCY.list();
  const values = keys.map(({ name: key }) => bindings.IDEMPOTENCY.get(key));
  return [stream, ...(await Promise.all(answers)), ...(await Promise.all(values))].join("\n");
}

const FORMS: Readonly<Record<string, (secret: string) => string>> = {
  "as it is": (secret) => `Authorization: Bearer ${secret}!`,
  "with an invisible character inside": (secret) => `${secret.slice(0, 5)}\u200b${secret.slice(5)}`,
  "as JSON with escaped slashes": (secret) =>
    JSON.stringify(secret).slice(1, -1).replaceAll("/", "\\/"),
  "percent-encoded": (secret) => encodeURIComponent(secret),
  "percent-encoded in lower case": (secret) =>
    encodeURIComponent(secret).replaceAll(/%../g, (escape) => escape.toLowerCase()),
  "in base64": (secret) => btoa(secret),
  "in base64 after one character": (secret) => btoa(`a${secret}`),
  "in base64 after two characters": (secret) => btoa(`ab${secret}`),
  "in base64url after a user's name": (secret) =>
    btoa(`ann:${secret}`).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""),
};

/** Pieces of a text that are long enough to give it away. */
function piecesOf(text: string): readonly string[] {
  const chars = 10;
  return Array.from({ length: text.length - chars + 1 }, (_, at) => text.slice(at, at + chars));
}

describe.each(Object.entries(FORMS))("a secret that a service repeats %s", (form, echo) => {
  test.each([
    ["an output", false],
    ["a failure, cut in its middle", true],
  ])("is in nothing that leaves %s", async (_where, fails) => {
    echoes.set(form, echo);
    const seen = await everythingAfter("lab__echo_service", { form, fails });
    expect(seen).toContain("•••");
    const shapes = [SECRET, ...Object.values(FORMS).map((shape) => shape(SECRET))];
    const pieces = shapes
      .map((shape) => shape.replace("Authorization: Bearer ", ""))
      .flatMap(piecesOf);
    expect(pieces.filter((piece) => seen.includes(piece))).toEqual([]);
  });
});

test("a secret that is a number is in no output, title and progress", async () => {
  const seen = await everythingAfter("lab__echo_service", { form: "", fails: false }, "number");
  expect(seen).toContain("•••");
  expect(seen).not.toContain(NUMBER.slice(0, 6));
});

describe("a withheld argument that the tool's own failure repeats", () => {
  test.each<[string, object]>([
    ["as it is", { code: "blue-falcon", message: "no account for blue-~falcon here" }],
    ["in base64", { code: "blue-falcon", message: "got Ymx1ZS1m~YWxjb24=" }],
    ["as a number", { number: 4_831_007, message: "code 4831~007 is wrong" }],
  ])("%s is hidden", async (_form, args) => {
    const seen = await everythingAfter("lab__complain", args);
    expect(seen).toContain("•••");
    expect(seen).not.toMatch(/blue-falcon|Ymx1ZS1mYWxjb24|4831007/);
  });

  test("and that is short withholds the whole text", async () => {
    const seen = await everythingAfter("lab__complain", {
      number: 7,
      message: "7 is n~ot the code",
    });
    expect(seen).toContain("this text is withheld");
    expect(seen).not.toContain("is not the code");
  });

  test("and that is short leaves words and numbers alone in which it only occurs", async () => {
    const seen = await everythingAfter("lab__complain", {
      number: 7,
      message: "wa~it 17 or 75 ms",
    });
    expect(seen).toContain("wait 17 or 75 ms");
  });

  test("and that is shown elsewhere stays", async () => {
    const args = { code: "blue-falcon", note: "blue-falcon", message: "no blue-~falcon here" };
    expect(await everythingAfter("lab__complain", args)).toContain("no blue-falcon here");
  });
});
