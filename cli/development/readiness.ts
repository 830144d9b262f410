import { readRefusal } from "./refusal.ts";

const STARTING = "Interlock starts. Try again in a moment.";
const RESTARTING = "The Worker's runtime ended. Interlock starts it again; try again in a moment.";

/** Whether the Worker behind a development server can answer, and why not. */
export class Readiness {
  /** Until the tenant's documents are stored, a request would see no tool. */
  #waiting: string | undefined = STARTING;
  #isStopping = false;
  readonly #url: string;
  readonly #output: string;

  /** Watches the Worker at an address. `output` is where its build keeps a refusal. */
  constructor(url: string, output: string) {
    this.#url = url;
    this.#output = output;
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Why a request gets no answer of the Worker now; undefined when it gets one. */
  refusal(): string | undefined {
    return readRefusal(this.#output) ?? this.#waiting;
  }

  noteReady(): void {
    this.#waiting = undefined;
  }

  /** Notes that the Worker's runtime ended. Tells whether it had been ready. */
  noteEnded(): boolean {
    const wasReady = this.#waiting === undefined;
    this.#waiting ??= RESTARTING;
    return wasReady;
  }

  noteStopping(): void {
    this.#isStopping = true;
  }

  /** Waits for the Worker. Returns the reason when the Worker refuses to work, else undefined. */
  async firstAnswer(): Promise<string | undefined> {
    while (!this.#isStopping) {
      const refused = readRefusal(this.#output);
      if (refused !== undefined) return refused;
      // While it builds, the platform's server lets a request wait.
      const answer = await this.#ask();
      if (answer) return answer.ok ? undefined : detailOf(await answer.text());
      await new Promise((wait) => setTimeout(wait, 100));
    }
    return "The Worker ended before it answered.";
  }

  /** Tells whether the Worker answers now. */
  async isHealthy(): Promise<boolean> {
    return (await this.#ask())?.ok ?? false;
  }

  #ask(): Promise<Response | undefined> {
    const signal = AbortSignal.timeout(2_000);
    return fetch(`${this.#url}/healthz`, { signal }).catch(() => undefined);
  }
}

/** The words of a problem document; else the whole text. */
function detailOf(text: string): string {
  const [, detail] = /"detail":("(?:[^"\\]|\\.)*")/.exec(text) ?? [];
  return detail === undefined ? text : (JSON.parse(detail) as string);
}
