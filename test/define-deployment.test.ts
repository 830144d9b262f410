import { expect, test } from "vitest";
import { compileContracts } from "../src/contracts/catalog/compiled.ts";
import { registerContracts } from "../src/contracts/check/register.ts";
import { defineDeployment, type DeploymentOptions } from "../src/define-deployment.ts";
import type { RawEnv } from "../src/env.ts";
import { hostWorkspaces } from "../src/host-workspaces.ts";
import { gameplanWorkspace } from "../apps/gameplan/workspace.ts";
import { TOOLS } from "../src/tools/index.ts";
import { EVERY_WIRE_AND_PAGE } from "./shared/deployment.ts";
import { TOKENS } from "./shared/tokens.ts";
import { bindings } from "./shared/worker.ts";

const COMPILED = compileContracts(registerContracts(TOOLS));
const WORKSPACES = hostWorkspaces([gameplanWorkspace]);

async function get(path: string, options: Partial<DeploymentOptions> = {}) {
  const named = { tools: TOOLS, compiled: COMPILED, workspaces: WORKSPACES };
  const all = { ...EVERY_WIRE_AND_PAGE, ...named, ...options };
  const request = new Request(`https://interlock.test${path}`);
  const answer = await defineDeployment(all).worker.fetch(request, bindings as unknown as RawEnv);
  const text = await answer.text();
  return { status: answer.status, text };
}

test("a deployment answers", async () => {
  expect(await get("/healthz")).toEqual({ status: 200, text: '{"status":"ok"}' });
});

test.each([
  ["no build ran", undefined],
  ["the build saw other tools", compileContracts(registerContracts(TOOLS.slice(1)))],
  ["the build refused", { ok: false, failure: "run npx interlock build" }],
])("every request gets the reason and the remedy when %s", async (_case, compiled) => {
  for (const path of ["/", "/healthz", "/v1/tools"]) {
    const { status, text } = await get(path, { compiled });
    expect([status, text]).toEqual([503, expect.stringContaining("run npx interlock build")]);
  }
});

test("an assistant whose context nobody supplies is stored with a warning", async () => {
  const put = async (id: string, options: Partial<DeploymentOptions> = {}) => {
    const named = { tools: TOOLS, compiled: COMPILED, workspaces: WORKSPACES };
    const { worker } = defineDeployment({ ...EVERY_WIRE_AND_PAGE, ...named, ...options });
    const request = new Request(`https://interlock.test/v1/assistants/${id}`, {
      method: "PUT",
      headers: {
        authorization: `Bearer ${TOKENS.bendable.token}`,
        "content-type": "application/json",
        "if-none-match": "*",
      },
      body: JSON.stringify({ instructions: "{{context.plan}} {{ actorId }} {{context.plan}}" }),
    });
    const answer = await worker.fetch(request, bindings as unknown as RawEnv);
    return answer.json();
  };
  const message = expect.stringContaining("{{context.plan}} has no value") as string;
  expect(await put("plans")).toMatchObject({
    id: "plans",
    warnings: [{ pointer: "/instructions", message }],
  });
  const hook = () => Promise.resolve({});
  const supplied = await put("supplied", { context: hook });
  expect(supplied).toMatchObject({ id: "supplied" });
  expect(supplied).not.toHaveProperty("warnings");
});

test("only the pages that it names are served", async () => {
  expect((await get("/")).status).toBe(200);
  expect((await get("/", { pages: [] })).status).toBe(404);
  expect((await get("/approvals", { pages: [{ paths: ["/"] }] })).status).toBe(404);
});

test.each([["/v1/chat"], ["/healthz"], ["desk"], ["/a?b"], ["/../secret"], ["//evil.test"]])(
  "a page cannot have the path %s",
  async (path) => {
    const { status, text } = await get("/healthz", { pages: [{ paths: [path] }] });
    expect([status, text]).toEqual([503, expect.stringContaining("A page cannot have the path")]);
  },
);

test("an assistant of the deployment that is not valid is refused with its place", async () => {
  const assistants = { default: { suggestions: ["x".repeat(300)] }, "a b": {} };
  const { status, text } = await get("/healthz", { assistants });
  expect(status).toBe(503);
  expect(text).toContain("The assistant default is not valid: suggestions.0");
  expect(text).toContain("a b is no id of an assistant");
});
