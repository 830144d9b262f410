import type { TenantFiles } from "../tenant-files.ts";

/**
 * Stores the project's documents where the development tenant has none yet. Returns the reason when
 * that is refused.
 */
export async function seedTenant(
  url: string,
  { policy, assistants }: TenantFiles,
): Promise<string | undefined> {
  const refusals: (string | undefined)[] = [];
  if (policy !== undefined) refusals.push(await seed(`${url}/v1/policy`, policy));
  for (const [id, document] of assistants) {
    refusals.push(await seed(`${url}/v1/assistants/${id}`, document));
  }
  return refusals.find((refusal) => refusal !== undefined);
}

/** Stores a document unless there is one. Returns the reason when that is refused. */
async function seed(url: string, document: unknown): Promise<string | undefined> {
  try {
    const answer = await fetch(url, {
      method: "PUT",
      headers: { "content-type": "application/json", "if-none-match": "*" },
      body: JSON.stringify(document),
    });
    return answer.ok || answer.status === 412 ? undefined : `${url}: ${await answer.text()}`;
  } catch (error) {
    return String(error);
  }
}
