/** Bindings of the objects. */
type Binding = "RUNS" | "TENANTS" | "WORKSPACES";

const started = new Map<string, Binding>();
let isClosed = false;

/**
 * Notes that an object starts.
 * Fails: throws while the objects of a finished test file are deleted.
 */
export function noteStart({ id }: DurableObjectState, binding: Binding): void {
  if (isClosed) throw new Error("the test file of this object is over");
  started.set(id.toString(), binding);
}

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
