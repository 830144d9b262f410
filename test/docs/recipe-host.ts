import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { MEMBERS, planDeployment, TOKENS } from "../../scripts/chaos/host/deployment.ts";
import { hostWorker } from "../../scripts/chaos/host/hosts.ts";
import { bundleWithClients, CLIENTS } from "../../scripts/wire-bundles.ts";
import { answerAsProvider } from "../fakes/scripted-model.ts";

/** The reference deployment with every client, before a provider that plays scripts. */
export interface RecipeHost {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts it; pages of these origins may call it. It stores in `directory`. */
export async function startRecipeHost(
  directory: string,
  origins: readonly string[] = [],
): Promise<RecipeHost> {
  const policy = {
    allowedTools: ["core__generate_title", "core__get_current_time"],
    requireApprovalForEffects: ["state_change"],
    ...(origins.length > 0 && { origins }),
  };
  const provider = createServer((request, response) => {
    void (async () => {
      const init = { method: "POST", body: await text(request) };
      const answer = await answerAsProvider(new Request(`http://x.test${request.url}`, init));
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      response.end(await answer.text());
    })();
  });
  await new Promise<void>((listening) => provider.listen(0, "127.0.0.1", listening));
  const { port } = provider.address() as AddressInfo;
  const { code } = await bundleWithClients(Object.keys(CLIENTS), { clientTools: true });
  const deployment = planDeployment(code, `http://127.0.0.1:${port}`);
  const host = await hostWorker(deployment, directory, async (url) => {
    const headers = {
      authorization: `Bearer ${TOKENS.chaos}`,
      "content-type": "application/json",
      "if-none-match": "*",
    };
    const body = JSON.stringify(policy);
    const answer = await fetch(`${url}/v1/policy`, { method: "PUT", headers, body });
    if (!answer.ok) throw new Error(await answer.text());
  });
  await host.start();
  return {
    url: host.url,
    async stop() {
      await host.stop();
      provider.close();
    },
  };
}

/** Fills a recipe in as its reader would, with an address and a token. */
export function fillRecipe(recipe: string, { url }: RecipeHost): string {
  return recipe
    .replace("https://YOUR-WORKER", url)
    .replace("declare const token: string;", `const token: string = "${MEMBERS.dan}";`);
}
