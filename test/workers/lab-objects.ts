import { DurableObject } from "cloudflare:workers";
import type { RawEnv } from "../../src/env.ts";

/** Bindings of the objects. */
type Binding = "RUNS" | "TENANTS" | "WORKSPACES";

const started = new Map<string, Binding>();
let starts = 0;
let isClosed = false;

/** An object without the code of its class, so that nothing in it starts. */
class BareObject extends DurableObject<RawEnv> {
  override fetch(): Response {
    return new Response(null);
  }

  override alarm(): void {}
}

/**
 * Notes each object of a class that starts. While the objects of a finished test file are deleted,
 * an object starts without its own code.
 */
export function noteStarts<Class extends Constructor>(objects: Class, binding: Binding): Class {
  return new Proxy(objects, {
    construct(target, [ctx, env]: [DurableObjectState, RawEnv], newTarget) {
      if (isClosed) return new BareObject(ctx, env);
      started.set(ctx.id.toString(), binding);
      if (binding === "RUNS") starts++;
      return Reflect.construct(target, [ctx, env], newTarget);
    },
  });
}

/** Returns the objects of a binding that started since the test file began. */
export function startedObjects(
  namespace: DurableObjectNamespace,
  of: Binding,
): readonly DurableObjectStub[] {
  return [...started]
    .filter(([, binding]) => binding === of)
    .map(([id]) => namespace.get(namespace.idFromString(id)));
}

/** Counts how often the object of a run started. */
export function startsOfRuns(): number {
  return starts;
}

type Constructor = new (ctx: DurableObjectState, env: RawEnv) => DurableObject<RawEnv>;

/**
 * Deletes the objects of the last test file. `deleteLoaded` deletes only objects in memory, so an
 * object that crashed or was evicted is loaded first, without its own code.
 */
export async function deleteObjects(
  namespaces: Readonly<Record<Binding, DurableObjectNamespace>>,
  deleteLoaded: () => Promise<void>,
): Promise<void> {
  const load = async ([id, binding]: [string, Binding]): Promise<void> => {
    const namespace = namespaces[binding];
    await namespace
      .get(namespace.idFromString(id))
      .fetch("https://object/")
      .catch(() => {});
  };
  isClosed = true;
  await deleteLoaded();
  await Promise.all([...started].map(load));
  await deleteLoaded();
  started.clear();
  isClosed = false;
}
