import { reset } from "cloudflare:test";
import { deleteObjects } from "../workers/lab-objects.ts";
import { renewState } from "./fresh-state.ts";
import { bindings } from "./worker.ts";

/**
 * Runs before each test file: the files share one workerd, so each starts without objects, stored
 * values and memories of the file before.
 */
async function freshenWorker(): Promise<void> {
  await deleteObjects(bindings, reset);
  await Promise.all([bindings.POLICY, bindings.IDEMPOTENCY, bindings.CONNECTIONS].map(empty));
  renewState();
}

async function empty(namespace: KVNamespace): Promise<void> {
  for (;;) {
    const { keys, list_complete: isLast } = await namespace.list();
    await Promise.all(keys.map(({ name }) => namespace.delete(name)));
    if (isLast) return;
  }
}

await freshenWorker();
