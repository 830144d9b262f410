import { bundleContender } from "./bundle.ts";
import { TOKEN, type ContenderPlan } from "./plan.ts";
import { startContender, type Contender } from "./start.ts";

const SCOPES = ["chat", "runs:read", "policy:write"];
const TOOLS = ["core__get_current_time", "bench__write_time", "bench__take_text"];

export const HEADERS = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };

/** Starts Interlock with the tools of the bench, and allows them. */
export async function startWithTools(
  { texts, ...plan }: ContenderPlan,
  settings: Readonly<Record<string, string>> = {},
): Promise<Contender> {
  const code = await bundleContender("durable-worker.ts");
  const caller = { ...readCaller(texts["API_TOKENS"]), scopes: SCOPES };
  const API_TOKENS = JSON.stringify([caller]);
  const contender = await startContender({
    ...plan,
    code,
    texts: { ...texts, ...settings, API_TOKENS },
  });
  await govern(contender);
  return contender;
}

function readCaller(tokens = "[]"): object {
  return (JSON.parse(tokens) as readonly object[])[0] ?? {};
}

/** Stores the policy, because the tenant's object checks the policy of each mutation. */
async function govern({ port }: Contender): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/policy`, {
    method: "PUT",
    headers: { ...HEADERS, "if-none-match": "*" },
    body: JSON.stringify({ allowedTools: TOOLS, budgets: { maxSteps: 50 } }),
  });
  if (response.status !== 200) throw new Error(`policy: ${await response.text()}`);
}
