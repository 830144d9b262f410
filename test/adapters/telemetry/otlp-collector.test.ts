import { expect, test } from "vitest";
import { readCollector, sendSpans } from "../../../src/adapters/telemetry/otlp-collector.ts";
import type { RawEnv } from "../../../src/env.ts";
import { FakeClock } from "../../../src/testing/time/fake-clock.ts";

const ADDRESS = { OTEL_EXPORTER_OTLP_ENDPOINT: "https://collector.test/otlp/" };

test("the settings of OpenTelemetry say where spans go", () => {
  const { url, service, headers } = readCollector({
    ...ADDRESS,
    OTEL_EXPORTER_OTLP_HEADERS: " authorization = Basic%20dXNlcjpw==, x-team=a%2Cb ,",
    OTEL_SERVICE_NAME: "desk",
  });
  expect([url, service]).toEqual(["https://collector.test/otlp/v1/traces", "desk"]);
  expect(headers).toEqual({
    authorization: "Basic dXNlcjpw==",
    "content-type": "application/json",
    "x-team": "a,b",
  });
  expect(readCollector(ADDRESS).service).toBe("interlock");
});

test.each<readonly [raw: RawEnv, problem: string]>([
  [{}, "OTEL_EXPORTER_OTLP_ENDPOINT is missing"],
  ...["secret", "http://collector.test", "https://10.0.0.7", "https://u:secret@collector.test"].map(
    (address) => [{ OTEL_EXPORTER_OTLP_ENDPOINT: address }, "ENDPOINT is not valid"] as const,
  ),
  ...["secret", "=secret", "a b=secret", "x=%secret", "x=a%0asecret"].map(
    (text) => [{ ...ADDRESS, OTEL_EXPORTER_OTLP_HEADERS: text }, "HEADERS is not valid"] as const,
  ),
])("a setting that is not valid is named without its value: %j", (raw, problem) => {
  let message = "";
  try {
    readCollector(raw);
  } catch (error) {
    ({ message } = error as Error);
  }
  expect(message).toContain(problem);
  expect(message).not.toContain("secret");
});

test("a collector that does not answer is left after five seconds", async () => {
  const clock = new FakeClock();
  const never = (): Promise<Response> => new Promise(() => {});
  const sent = sendSpans(readCollector(ADDRESS), "{}", { clock, fetch: never });
  const first = Promise.race([sent, new Promise((resolve) => setTimeout(resolve, 0, "waits"))]);
  for (let seconds = 1; seconds < 5; seconds++) clock.advance(1_000);
  expect(await first).toBe("waits");
  clock.advance(1_000);
  expect([await sent, clock.waiting]).toEqual(["away", 0]);
});

test("a collector that answers without end is left after 64 KiB", async () => {
  let bytes = 0;
  const left = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      bytes += 16 * 1024;
      controller.enqueue(new Uint8Array(16 * 1024));
    },
    cancel: () => left.resolve(),
  });
  const clock = new FakeClock();
  const endless = (): Promise<Response> => Promise.resolve(new Response(body));
  expect(await sendSpans(readCollector(ADDRESS), "{}", { clock, fetch: endless })).toBe("taken");
  await left.promise;
  expect(bytes).toBeLessThan(128 * 1024);
});

test.each([
  [200, "taken"],
  [202, "taken"],
  [302, "refused"],
  [400, "refused"],
  [401, "refused"],
  [429, "away"],
  [500, "refused"],
  [503, "away"],
])("the status %d means %s", async (status, meaning) => {
  const requests: Request[] = [];
  const answer = (request: Request): Promise<Response> => {
    requests.push(request);
    return Promise.resolve(new Response(null, { status }));
  };
  const ports = { clock: new FakeClock(), fetch: answer };
  expect(await sendSpans(readCollector(ADDRESS), "{}", ports)).toBe(meaning);
  expect(requests.map(({ method, redirect }) => [method, redirect])).toEqual([["POST", "manual"]]);
});
