import { describe, expect, test } from "vitest";
import { openPushDesk, actionsOf } from "../shared/push-desk.ts";

const desk = openPushDesk();

const SECRET = "sk-secret-of-the-crm";
const CRM = { kind: "bearer", token: { variable: "CRM_TOKEN" } };
const OWN = {
  wire: "openai",
  baseUrl: "https://models.example.com/v1",
  apiKey: { variable: "OWN_KEY" },
  models: [{ name: "own-1" }],
};

describe("secrets", () => {
  test("come from the variable that a file names, and are sent again when the file or --renew says so", async () => {
    using project = desk.projectOf({ "connections/crm": CRM, "providers/own": OWN });
    project.write(".dev.vars.staging", `CRM_TOKEN=${SECRET}\n`);
    const secrets = { OWN_KEY: "sk-own-provider-key" };
    expect(actionsOf(await desk.run(project, ["push", "--json"], secrets))).toEqual({
      "connections/crm": "store: applied",
      "providers/own": "create: applied",
    });
    const stored = await desk.ask("providers/own");
    expect(stored.body).toMatchObject({ baseUrl: OWN.baseUrl, status: "ready" });
    expect(actionsOf(await desk.run(project, ["push", "--json"]))).toEqual({
      "connections/crm": "unchanged",
      "providers/own": "unchanged",
    });
    const renewed = ["push", "--json", "--renew", "connections/crm", "--renew", "providers/own"];
    expect(actionsOf(await desk.run(project, renewed, secrets))).toEqual({
      "connections/crm": "store: applied",
      "providers/own": "update: applied",
    });
  });

  test("of a provider that is taken over get the name of a variable, and its terms stay", async () => {
    const { apiKey: _variable, ...terms } = OWN;
    const stored = { ...terms, apiKey: "sk-own-provider-key" };
    await desk.put("providers/own", stored, {});
    using project = desk.projectOf({});
    await desk.run(project, ["pull", "providers/own"]);
    const written = { ...terms, apiKey: { variable: "OWN_API_KEY" } };
    expect(project.read("tenant/providers/own.json")).toEqual(written);
    expect(actionsOf(await desk.run(project, ["push", "--json"]))).toEqual({
      "providers/own": "unchanged",
    });
  });

  test("that are missing stop the push before anything is sent", async () => {
    using project = desk.projectOf({ "connections/crm": CRM, policy: { allowedTools: [] } });
    const refused = await desk.run(project, ["push"]);
    expect(refused.stderr).toContain("CRM_TOKEN is not set");
    expect([refused.exitCode, (await desk.ask("policy")).status]).toEqual([1, 404]);
  });

  test("never appear in the output, not even when the deployment repeats them", async () => {
    await using front = await desk.startFront(async (incoming) => {
      if (incoming.method !== "PUT") return "pass";
      const { authorization } = incoming.headers;
      const body = (await incoming.setEncoding("utf8").toArray()).join("");
      return { code: "invalid_request", detail: `${body} ${authorization}`, errors: [] };
    });
    using project = desk.projectOf({ "connections/crm": CRM }, front.url);
    const variables = { CRM_TOKEN: SECRET };
    for (const flags of [[], ["--json"], ["--dry-run"]]) {
      const { all } = await desk.run(project, ["push", ...flags], variables);
      expect(all).toContain("connections/crm");
      expect(all).not.toContain(SECRET);
      expect(all).not.toContain(desk.token);
    }
    expect(JSON.stringify(project.read("tenant/pushed/staging.json") ?? {})).not.toContain(SECRET);
  });

  test.each([
    ["a bearer token", "connections/crm", { kind: "bearer", token: SECRET }, "/token"],
    ["a header", "connections/crm", { kind: "header", name: "x-api-key", value: SECRET }, "/value"],
    ["the key of a provider", "providers/own", { ...OWN, apiKey: SECRET }, "/apiKey"],
  ])("in a file are refused: %s", async (_, key, document, field) => {
    using project = desk.projectOf({ [key]: document });
    const refused = await desk.run(project, ["push"]);
    expect(refused.stderr).toContain(`tenant/${key}.json: ${field} must name a variable`);
    expect(refused.all).not.toContain(SECRET);
    expect(refused.exitCode).toBe(1);
  });

  test("of a wrong form are refused by the name of their file and field", async () => {
    using project = desk.projectOf({ "connections/crm": CRM });
    const refused = await desk.run(project, ["push"], { CRM_TOKEN: `${SECRET} x` });
    expect(refused.stderr).toContain("tenant/connections/crm.json:1: /token: expected printable");
    expect(refused.all).not.toContain(SECRET);
  });
});
