import type { RawEnv } from "../../src/env.ts";
import * as product from "./interlock-worker.ts";

/** All objects of the bench share one isolate, and so they share these counts. */
const counts = { run: 0, tenant: 0, alarms: 0 };

/** Counts the statements of an object, and the alarms that it sets. */
function watch({ storage }: DurableObjectState, name: "run" | "tenant"): void {
  const { sql } = storage;
  const exec = sql.exec.bind(sql);
  sql.exec = ((query: string, ...values: unknown[]) => {
    counts[name]++;
    return exec(query, ...values);
  }) as SqlStorage["exec"];
  const setAlarm = storage.setAlarm.bind(storage);
  storage.setAlarm = (...args) => {
    counts.alarms++;
    return setAlarm(...args);
  };
}

export class RunObject extends product.RunObject {
  constructor(ctx: DurableObjectState, env: RawEnv) {
    watch(ctx, "run");
    super(ctx, env);
  }
}

export class TenantObject extends product.TenantObject {
  constructor(ctx: DurableObjectState, env: RawEnv) {
    watch(ctx, "tenant");
    super(ctx, env);
  }
}

export default {
  fetch(request: Request, env: RawEnv): Response | Promise<Response> {
    if (new URL(request.url).pathname === "/counts") {
      const answer = Response.json(counts);
      Object.assign(counts, { run: 0, tenant: 0, alarms: 0 });
      return answer;
    }
    return product.default.fetch(request, env);
  },
};
