import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
import { answerAsProvider } from "./test/fakes/scripted-model.ts";
import { answerAsIssuer } from "./test/fakes/issuer.ts";
import { answerAsShop } from "./test/fakes/shop.ts";
import type { SamplePlan } from "./test/shared/sample.ts";
import { apiTokensSecret, connectionKeysSecret } from "./test/shared/tokens.ts";

const BROWSER_TESTS = "test/**/{page*,approvals-page,people}.node.test.ts";
const hasBrowser = existsSync(process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium");
if (!hasBrowser) {
  const notice = `No chromium: ${BROWSER_TESTS} left out. Install it, or name it in CHROMIUM_PATH.`;
  if (process.env["CI"]) throw new Error(notice);
  console.warn(notice);
}

Object.assign(process.env, {
  // Tests start scripts, wrangler among them, dozens of times; Node compiles each file once.
  NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.compile-cache"),
  OPENAI_API_KEY: "sk-test-secret",
  RUN_ID_SECRET: "a secret for tests, 32 bytes long",
  CONNECTION_KEYS: connectionKeysSecret(),
});

const samplePlan: SamplePlan = {
  seed: Number(process.env["TEST_SEED"] ?? 1),
  isFull: Boolean(process.env["TEST_FULL"]),
};
if (!Number.isSafeInteger(samplePlan.seed)) throw new Error("TEST_SEED takes a whole number.");

/** One file takes one core at most, so two cores run two files. */
const MAX_WORKERS = Math.max(2, availableParallelism() - 1);

/** A hung test has to end; how fast a sound one is, a busy machine decides. Unit: milliseconds. */
const PATIENCE = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  expect: { poll: { timeout: 20_000 } },
};

/**
 * Two projects: what runs in the Worker is tested inside workerd, everything else on Node.
 * A test is a workerd test unless its name ends in `.node.test.ts`.
 */
export default defineConfig({
  test: {
    projects: [
      {
        plugins: [
          cloudflareTest({
            // The product, with the laboratory's tools beside its own.
            main: "./test/workers/lab-worker.ts",
            wrangler: { configPath: "./wrangler.toml" },
            miniflare: {
              bindings: {
                OPENAI_BASE_URL: "http://provider.test/v1",
                MODELS: "scripted,other",
                API_TOKENS: apiTokensSecret(),
              },
              // A suite asks oftener than any caller may; test/http/rate-limits.test.ts brings its
              // own.
              ratelimits: {
                CALLER_LIMIT: { namespace_id: "1001", simple: { limit: 1_000_000, period: 60 } },
                ADDRESS_LIMIT: { namespace_id: "1002", simple: { limit: 1_000_000, period: 60 } },
              },
              outboundService: ((request: Request) =>
                answerAsShop(request) ??
                answerAsIssuer(request) ??
                answerAsProvider(request)) as never,
            },
          }),
        ],
        test: {
          name: "workerd",
          ...PATIENCE,
          maxWorkers: MAX_WORKERS,
          provide: { samplePlan },
          include: ["test/**/*.test.ts"],
          exclude: ["test/**/*.node.test.ts"],
        },
      },
      {
        test: {
          name: "node",
          include: ["test/**/*.node.test.ts"],
          exclude: hasBrowser ? [] : [BROWSER_TESTS],
          ...PATIENCE,
          maxWorkers: MAX_WORKERS,
        },
      },
    ],
  },
});
