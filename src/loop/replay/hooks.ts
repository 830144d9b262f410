import type { ToolHook } from "../../capabilities/hook.ts";
import { codeOf } from "./evidence.ts";
import type { Replay } from "./replay.ts";

/** Replays the vetoes of the deployment's hooks. No hook is asked. */
export function replayHooks({ recordOf, markNotReplayable }: Replay): readonly ToolHook[] {
  return [
    {
      before({ context }) {
        const record = recordOf(context);
        const { endedBy, endsRun, observation } = record?.end ?? {};
        if (endedBy?.who !== "hook" || endedBy.when !== "before") return PASSES;
        // No record holds how the attempt before the veto ended.
        if (record?.dispatches !== 0) markNotReplayable("unclear");
        const message = observation?.result_payload.errors[0]?.message ?? "";
        return Promise.resolve({ code: codeOf(record) ?? "", message, endsRun: endsRun === true });
      },
      after({ context }) {
        const record = recordOf(context);
        const { endedBy, endsRun } = record?.end ?? {};
        if (endedBy?.who !== "hook" || endedBy.when !== "after") return PASSES;
        const { message } = endedBy;
        return Promise.resolve({ code: codeOf(record) ?? "", message, endsRun: endsRun === true });
      },
    },
  ];
}

const PASSES = Promise.resolve(undefined);
