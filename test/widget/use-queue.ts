import type { ScriptedApi } from "./scripted-api.ts";
import type { Visit } from "./open-page.ts";
import { fillQueue } from "./scripted-queue.ts";
import { usePage } from "./use-page.ts";

/** Opens the page of approvals with a filled queue, in each test of a file. */
export function useQueue(
  keep: (visit: Visit) => void,
  at = "approvals",
): (prepare?: (api: ScriptedApi) => void) => Promise<void> {
  const openPage = usePage(keep);
  return (prepare) =>
    openPage({
      at,
      prepare: (api) => {
        fillQueue(api);
        prepare?.(api);
      },
    });
}
