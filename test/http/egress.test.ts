import { beforeAll, beforeEach, expect, test } from "vitest";
import { ELSEWHERE, SHOP, type Visit } from "../fakes/shop.ts";
import { chat, chunksOf, seedPolicies } from "../shared/worker.ts";

beforeAll(seedPolicies);
beforeEach(visits);

/** Who came since the last time. */
async function visits(): Promise<readonly Visit[]> {
  const response = await fetch(`${SHOP}/visits`);
  return response.json();
}

interface Call {
  readonly name: string;
  readonly args: object;
}

/** Lets a model make calls, one per step, and answers what the tools said. */
async function resultsOf(...calls: readonly Call[]): Promise<readonly unknown[]> {
  const steps = calls.map(({ name, args }, index) => ({
    calls: [{ id: `call_${index}`, name, args: JSON.stringify(args) }],
  }));
  const chunks = await chunksOf(await chat([...steps, { text: ["ok"] }], "lab"));
  return chunks.filter(({ type }) => type === "result").map(({ result }) => result);
}

const order: Call = { name: "lab__order", args: { what: "tea" } };
const visit = (url: string): Call => ({ name: "lab__visit", args: { url } });

test("an order is asked for again under its key, and another order has another", async () => {
  const [first, second] = await resultsOf(order, order);
  expect([first, second]).toMatchObject([
    { status: { taxonomy_class: "SUCCESS" }, execution_metadata: { attempt_number: 2 } },
    { status: { taxonomy_class: "SUCCESS" }, execution_metadata: { attempt_number: 2 } },
  ]);
  const [one, again, two, andAgain, ...more] = (await visits()).map(({ key }) => key);
  expect(one).toMatch(/\S{16,}/);
  expect([again, andAgain, more]).toEqual([one, two, []]);
  expect(two).not.toBe(one);
});

test("a model reads a page of the shop, without a key", async () => {
  expect(await resultsOf(visit(`${SHOP}/page`))).toMatchObject([
    { result_payload: { data: { status: 200, text: "A page." } } },
  ]);
  expect(await visits()).toEqual([{ host: "shop.test", method: "GET", path: "/page", key: null }]);
});

test("a model that is led elsewhere does not get there", async () => {
  const addresses = [
    `${ELSEWHERE}/`,
    "https://shop.test@evil.test/",
    "https://shop.test.evil.test/",
    "http://shop.test/",
    "http://evil.test/",
    "https://shop.test:444/",
    "http://127.0.0.1/",
  ];
  for (const address of addresses) {
    expect(await resultsOf(visit(address))).toMatchObject([
      {
        status: { taxonomy_class: "POLICY_VIOLATION" },
        result_payload: { errors: [{ code: "http_refused" }] },
      },
    ]);
  }
  expect(await visits()).toEqual([]);
});

test("a redirect of the shop is shown, and leads nowhere", async () => {
  expect(await resultsOf(visit(`${SHOP}/moved`))).toMatchObject([
    { result_payload: { data: { status: 307 } } },
  ]);
  expect((await visits()).map(({ host }) => host)).toEqual(["shop.test"]);
});
