/** A session with the inspector of a Worker. */
export interface Inspector {
  /** Fails: throws when the inspector refuses the method. */
  send(method: string, params?: object): Promise<unknown>;
  close(): void;
}

interface Answer {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** Connects to the first Worker that the inspector lists. */
export async function connectInspector(url: string): Promise<Inspector> {
  const listing = await fetch(new URL("/json", url.replace("ws:", "http:")));
  const [target] = await listing.json<{ readonly webSocketDebuggerUrl: string }[]>();
  if (!target) throw new Error("the inspector lists nothing");
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve, { once: true });
    socket.addEventListener("error", reject, { once: true });
  });
  const waiting = new Map<number, (answer: Answer) => void>();
  socket.addEventListener("message", ({ data }) => {
    const answer = JSON.parse(String(data)) as Answer;
    if (answer.id !== undefined) waiting.get(answer.id)?.(answer);
  });
  let id = 0;
  return {
    async send(method, params = {}) {
      id++;
      const asked = id;
      const { promise, resolve } = Promise.withResolvers<Answer>();
      waiting.set(asked, resolve);
      socket.send(JSON.stringify({ id: asked, method, params }));
      const { result, error } = await promise;
      if (error) throw new Error(`${method}: ${error.message}`);
      return result;
    },
    close: () => socket.close(),
  };
}
