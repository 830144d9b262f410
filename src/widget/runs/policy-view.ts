import { isJsonObject, type JsonObject } from "../../protocol/json/value.ts";
import { toVisible } from "../../protocol/text/visible.ts";
import { say } from "../texts/say.ts";
import { el, setText } from "../dom.ts";
import type { RunsApi, RunsFailure } from "./api.ts";
import { linkRun } from "./facts.ts";
import { formatTime } from "./labels.ts";
import { formatDecision, formatTrial, type PolicyTrial } from "./policy-trial.ts";

type PolicyApi = Pick<RunsApi, "policy" | "tryPolicy" | "whyNoTrial">;

const NOT_OFFERED =
  "No policy can be tried here, because this deployment does not replay runs. Its author can set replayRuns.";

/** Shows the current policy, and what another one would have decided about the last calls. */
export class PolicyView {
  readonly root: HTMLElement;
  readonly #api: PolicyApi;
  readonly #current = el("div", { class: "current" });
  readonly #text = el("textarea", { rows: "16", spellcheck: "false" });
  readonly #submit = el(
    "button",
    { type: "submit", class: "primary" },
    say("Try it on the last calls"),
  );
  readonly #status = el("p", { role: "status" });
  readonly #notice = el("div", { class: "notice", role: "alert" });
  readonly #result = el("div", { class: "result" });
  readonly #form: HTMLFormElement;

  constructor(api: PolicyApi) {
    this.#api = api;
    const label = el("label", {}, el("span", {}, say("Changed policy")), this.#text);
    this.#form = el("form", { class: "trial", hidden: "" }, label, this.#submit);
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#try();
    });
    this.root = el(
      "article",
      { class: "trace policy", tabindex: "-1", "aria-label": say("Try a policy") },
      el("h2", {}, say("What would another policy have decided about the last 100 calls?")),
      el("p", { class: "note" }, say("Nothing is stored, no tool runs, and nobody is asked.")),
      this.#current,
      this.#form,
      this.#notice,
      this.#status,
      this.#result,
    );
  }

  /** Reads the current policy. Contract: keeps what the reader has written. */
  async load(): Promise<void> {
    const [policy, whyNot] = await Promise.all([this.#api.policy(), this.#api.whyNoTrial()]);
    this.#form.hidden = whyNot !== undefined;
    this.#tell(whyNot ?? (policy.ok ? undefined : policy.failure));
    if (!policy.ok) return this.#current.replaceChildren();
    const { revision, document } = policy.value;
    const text = JSON.stringify(document, null, 2);
    if (this.#text.value === "") this.#text.value = text;
    const shown = el("pre", { tabindex: "0" }, toVisible(text).text);
    const summary = el("summary", {}, say("Current policy, revision {revision}", { revision }));
    this.#current.replaceChildren(el("details", {}, summary, shown));
  }

  async #try(): Promise<void> {
    const policy = readDocument(this.#text.value);
    this.#result.replaceChildren();
    setText(this.#status, "");
    if (!policy)
      return this.#tell({ message: say("This is not a JSON object. Correct the text.") });
    this.#tell(undefined);
    this.#submit.disabled = true;
    setText(this.#status, say("Deciding the last calls again…"));
    const tried = await this.#api.tryPolicy(policy);
    this.#submit.disabled = false;
    setText(this.#status, tried.ok ? formatTrial(tried.value) : "");
    if (!tried.ok) return this.#tell(tried.failure);
    if (tried.value.changed.length > 0) this.#result.replaceChildren(drawChanges(tried.value));
  }

  /** Without a token the list asks for one. */
  #tell(failure: (Pick<RunsFailure, "message"> & Partial<RunsFailure>) | undefined): void {
    this.#notice.replaceChildren();
    if (!failure || failure.needsToken) return;
    const { code, message, errors = [] } = failure;
    const text = code === "unknown_route" ? say(NOT_OFFERED) : message;
    this.#notice.append(el("p", {}, text));
    const lines = errors.map((error) => el("li", {}, toVisible(error).text));
    if (lines.length > 0) this.#notice.append(el("ul", {}, ...lines));
  }
}

function readDocument(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function drawChanges({ changed }: PolicyTrial): HTMLElement {
  const head = [say("Call"), say("Asked"), say("Before"), say("After")].map((text) =>
    el("th", { scope: "col" }, text),
  );
  const rows = changed.map(({ runId, invocationId, toolId, toolVersion, askedAt, from, to }) => {
    const name = toVisible(`${toolId} ${toolVersion}, ${invocationId}`).text;
    const at = el("time", { datetime: askedAt }, formatTime(askedAt));
    const cells = [at, ...[from, to].map((one) => toVisible(formatDecision(one)).text)];
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, `${name} ${say("of")} `, linkRun(runId)),
      ...cells.map((cell) => el("td", {}, cell)),
    );
  });
  const caption = el("caption", {}, say("Calls whose decision changes, the newest first"));
  return el("table", {}, caption, el("tr", {}, ...head), ...rows);
}
