import { existsSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { answerAsCollector, COLLECTOR } from "./test/fakes/collector.ts";
import { answerAsOwnProvider } from "./test/fakes/own-provider.ts";
import { answerAsProvider } from "./test/fakes/scripted-model.ts";
import { answerAsIssuer } from "./test/fakes/issuer.ts";
import { answerAsReceiver } from "./test/fakes/webhook-receiver.ts";
import { answerAsShop } from "./test/fakes/shop.ts";
import { hasBrowser } from "./scripts/browser-path.ts";
import type { SamplePlan } from "./test/shared/sample.ts";
import { apiTokensSecret, connectionKeysSecret } from "./test/shared/tokens.ts";

/** Tests that share one browser. */
const BROWSER_TESTS = "{test,apps}/**/{page*,approvals-*,people}.node.test.ts";
if (!hasBrowser()) {
  const notice = `No chromium: ${BROWSER_TESTS} left out. Install it, or name it in CHROMIUM_PATH.`;
  if (process.env["CI"]) throw new Error(notice);
  console.warn(notice);
}

Object.assign(process.env, {
  // Tests start scripts, wrangler among them, dozens of times; Node compiles each file once.
  NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.compile-cache"),
  // And bundle dozens of times; esbuild collects less garbage.
  GOGC: "400",
  OPENAI_API_KEY: "sk-test-secret",
  RUN_ID_SECRET: "a secret for tests, 32 bytes long",
  CONNECTION_KEYS: connectionKeysSecret(),
});

const samplePlan: SamplePlan = {
  seed: Number(process.env["TEST_SEED"] ?? 1),
  isFull: Boolean(process.env["TEST_FULL"]),
};
if (!Number.isSafeInteger(samplePlan.seed)) throw new Error("TEST_SEED takes a whole number.");

/**
 * One more than cores: a file waits for answers, timers and programs part of its time. Each worker
 * costs as much as many tests: it loads the product, and starts a runtime or a browser. The whole
 * test run says how many, because some of its groups run at once.
 */
const MAX_WORKERS = Number(process.env["TEST_WORKERS"] ?? availableParallelism() + 1);
if (!Number.isSafeInteger(MAX_WORKERS) || MAX_WORKERS < 1) {
  throw new Error("TEST_WORKERS takes a whole number from 1 on.");
}

/** Only a hung test meets these limits, even on a busy machine. Unit: milliseconds. */
const COMMON = {
  testTimeout: 120_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 100_000 } },
  maxWorkers: MAX_WORKERS,
  provide: { samplePlan },
};

/** The same for tests that install, build and start programs, many in one test. */
const OF_PROGRAMS = { ...COMMON, testTimeout: 900_000, hookTimeout: 900_000 };

const NODE_TESTS = "{test,apps}/**/*.node.test.ts";
/** Kills processes. A part of it runs beside the other tests, all of it after them. */
const CHAOS_TEST = "test/chaos/chaos.node.test.ts";

/** Objects commit thousands of small writes, each of which waits for a disk. */
const MEMORY_FOLDER = "/dev/shm";
const MIN_MEMORY_BYTES = 2 ** 30;

/** Lets workerd keep its storage in memory where Linux offers enough of it. */
function keepStorageInMemory(): void {
  if (!existsSync(MEMORY_FOLDER)) return;
  const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
  if (bavail * bsize < MIN_MEMORY_BYTES) return;
  const folder = mkdtempSync(join(MEMORY_FOLDER, "interlock-test-"));
  process.env["TMPDIR"] = folder;
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
}
const TEMPORARY_FOLDER = tmpdir();
keepStorageInMemory();

/** Packages of many modules, each of which would be transformed, and sent to each workerd. */
const BUNDLED_PACKAGES = [
  "@ag-ui/client",
  "ag-ui-client-0",
  "ai",
  "ai-6",
  "assistant-stream",
  "eventsource-parser",
  "fast-check",
  "hono/hono-base",
  "hono/router/trie-router",
  "jose",
  "openai",
];
/** Not in `node_modules`, which copies of this repository share: two could bundle at one time. */
const BUNDLES = join(import.meta.dirname, ".wrangler/vitest");

/**
 * Leaves out the source maps of packages. A test that fails sends the modules of its stack to
 * workerd, which takes no message as large as those of `ai`: the test run would never end.
 */
const withoutPackageMaps = {
  name: "without-package-maps",
  enforce: "post" as const,
  transform: (code: string, id: string) =>
    id.includes("/node_modules/") || id.startsWith(BUNDLES)
      ? { code, map: { mappings: "" as const } }
      : undefined,
};

/** The product with the laboratory's tools, and the fake services that it calls. */
function startWorkerd(): ReturnType<typeof cloudflareTest> {
  return cloudflareTest({
    main: "./test/workers/lab-worker.ts",
    wrangler: { configPath: "./wrangler.toml" },
    miniflare: {
      bindings: {
        OPENAI_BASE_URL: "http://provider.test/v1",
        ANTHROPIC_BASE_URL: "http://provider.test/v1",
        ANTHROPIC_API_KEY: "sk-ant-test-secret",
        MODELS:
          "scripted,other,responses:scripted-r,responses:other-r,anthropic:scripted-a," +
          "responses:summed-r?summaries=true,anthropic:summed-a?summaries=true,priced,euro,cheap,brittle," +
          // Families with abilities, on each wire.
          "gpt-4o,responses:gpt-6.1-terra,responses:gpt-4.1,anthropic:claude-haiku-4-5," +
          "anthropic:claude-sonnet-5",
        API_TOKENS: apiTokensSecret(),
        AUDIT_SEGMENT_BYTES: "1500000",
        SHOP_URL: "https://shop.test/api/",
        OTEL_EXPORTER_OTLP_ENDPOINT: `${COLLECTOR}/otlp`,
        OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20collector-secret",
      },
      // Tests exceed every real limit; test/http/rate-limits.test.ts sets its own.
      ratelimits: {
        CALLER_LIMIT: { namespace_id: "1001", simple: { limit: 1_000_000, period: 60 } },
        ADDRESS_LIMIT: { namespace_id: "1002", simple: { limit: 1_000_000, period: 60 } },
      },
      outboundService: (async (request: Request, workerd: object) =>
        (await answerAsCollector(request, workerd)) ??
        answerAsShop(request, workerd) ??
        answerAsIssuer(request) ??
        (await answerAsReceiver(request, workerd)) ??
        (await answerAsOwnProvider(request)) ??
        answerAsProvider(request)) as never,
    },
  });
}

/**
 * Four projects. A test runs inside workerd unless its name ends in `.node.test.ts`. Files inside
 * workerd share one in each worker; test/shared/fresh-worker.ts empties it before each file. Files
 * on Node share the process of a worker and its modules.
 */
export default defineConfig({
  cacheDir: BUNDLES,
  // Applications import this package by its name; tsconfig.json says where its sources are.
  resolve: { tsconfigPaths: true },
  test: {
    projects: [
      {
        extends: true,
        plugins: [startWorkerd(), withoutPackageMaps],
        test: {
          name: "workerd",
          ...COMMON,
          isolate: false,
          setupFiles: ["test/shared/fresh-worker.ts"],
          deps: { optimizer: { ssr: { enabled: true, include: BUNDLED_PACKAGES } } },
          include: ["{test,apps}/**/*.test.ts", `!${NODE_TESTS}`],
        },
      },
      {
        extends: true,
        test: {
          name: "node",
          ...OF_PROGRAMS,
          isolate: false,
          // Programs that these tests install or start are too large for memory.
          env: { TMPDIR: TEMPORARY_FOLDER },
          include: [NODE_TESTS, `!${CHAOS_TEST}`, `!${BROWSER_TESTS}`],
        },
      },
      {
        extends: true,
        test: {
          name: "pages",
          ...OF_PROGRAMS,
          env: { TMPDIR: TEMPORARY_FOLDER },
          isolate: false,
          // The test run names those that needed it, and fails when they are many.
          retry: 1,
          include: hasBrowser() ? [BROWSER_TESTS] : [],
        },
      },
      {
        test: {
          name: "chaos",
          ...OF_PROGRAMS,
          env: { TMPDIR: TEMPORARY_FOLDER },
          include: [CHAOS_TEST],
        },
      },
    ],
  },
});
