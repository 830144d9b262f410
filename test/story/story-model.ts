import { answerAsProvider, type ScriptedStep, script } from "../fakes/scripted-model.ts";

interface Message {
  readonly role: string;
  readonly content: string | null;
  /** Of a result: the call that it belongs to. */
  readonly tool_call_id?: string;
}

/** Output of a tool as the model sees it. */
interface Told {
  readonly data?: Readonly<Record<string, unknown>>;
}

/** The pin of a transfer. Approvals, log and audit must never show it. */
export const PIN = "canary-pin-4711";

/** In a question: the provider refuses to answer it. */
export const STORM = "a storm";

interface Scene {
  readonly asked: RegExp;
  /** The calls of each step. */
  readonly steps: readonly (readonly Call[])[];
  readonly sum: (told: Told) => string;
}

/** The last line of the archive, which stands behind the cut of its result. */
export const LAST_LINE = "the cellar is under the stairs";

/** Stands for the id of the call before, which the runtime may have changed. */
const THE_CALL = "the call before";

const SCENES: readonly Scene[] = [
  {
    asked: /bakery/,
    steps: [[["bank__transfer", { to: "bakery", amount: 40, pin: PIN }]]],
    sum: ({ data }) =>
      data ? `I have sent ${String(data["moved"])} USD to the bakery.` : "No money was sent.",
  },
  {
    asked: /palace/,
    steps: [[["bank__transfer", { to: "palace", amount: 2_500 }]]],
    sum: () => "No money was sent.",
  },
  {
    asked: /nothing at all/,
    steps: [[["bank__transfer", { to: "bakery", amount: 0 }]]],
    sum: () => "No money was sent.",
  },
  {
    asked: /vault/,
    steps: [[["bank__open_vault", {}]]],
    sum: () => "There is no vault.",
  },
  {
    asked: /customers/,
    steps: [[["crm__share_customers", { list: "all customers", partner: "Acme Ads" }]]],
    sum: ({ data }) =>
      data ? "They are shared." : "Nothing was shared. I can write to our customers instead.",
  },
  {
    asked: /oven/,
    steps: [[["mail__send_offer", { to: "Kim", item: "the old oven" }]]],
    sum: ({ data }) =>
      data ? "Kim has the offer." : "Nobody answered in time, so no offer went out.",
  },
  {
    asked: /seat/,
    steps: [[["travel__reserve_seat", { flight: "LH1" }]]],
    sum: ({ data }) => (data ? `You sit at the ${String(data["seat"])}.` : "No seat was reserved."),
  },
  {
    asked: /nine notes/,
    steps: [
      Array.from({ length: 9 }, (_, at): Call => ["desk__file_note", { text: `note ${at}` }]),
    ],
    sum: ({ data }) => (data ? "All nine are filed." : "Not all of them are filed."),
  },
  {
    asked: /a note/,
    steps: [[["desk__file_note", { text: "a note" }]]],
    sum: ({ data }) => (data ? "It is filed." : "It is not filed."),
  },
  {
    asked: /archive/,
    steps: [[["archive__read", {}]], [["core__read_result", { call: THE_CALL, offset: 6_000 }]]],
    sum: ({ data }) =>
      String(data?.["text"]).includes(LAST_LINE) ? `It says that ${LAST_LINE}.` : "I cannot tell.",
  },
];
type Call = readonly [name: string, args: object];

/** Plays a model that makes the requested call and describes its result. */
export async function answerAsStoryModel(request: Request): Promise<Response> {
  const asked = await request.json<{ readonly messages: readonly Message[] }>();
  const at = asked.messages.findLastIndex(({ role }) => role === "user");
  if (asked.messages[at]?.content?.includes(STORM)) {
    return new Response("The provider is closed in a storm.", { status: 400 });
  }
  const content = script(...stepsFor(asked.messages.slice(at)));
  const messages = asked.messages.with(at, { role: "user", content });
  const body = JSON.stringify({ ...asked, messages });
  return answerAsProvider(new Request(request.url, { method: "POST", body }));
}

function stepsFor([question, ...turn]: readonly Message[]): readonly ScriptedStep[] {
  const scene = SCENES.find(({ asked }) => asked.test(question?.content ?? ""));
  if (!scene) return [{ text: ["I do not know."] }];
  const before = turn.find(({ role }) => role === "tool")?.tool_call_id ?? "";
  const steps = scene.steps.map((calls, step) => ({
    calls: calls.map(([name, args], at) => ({
      id: `call_${step + 1}_${at + 1}`,
      name,
      args: JSON.stringify(args).replace(THE_CALL, before),
    })),
  }));
  const told = turn.findLast(({ role }) => role === "tool")?.content ?? "";
  return [...steps, { text: [scene.sum(readTold(told))] }];
}

/** Extracts the observation from its label. */
function readTold(content: string): Told {
  const [, json = "{}"] = /^<tool_output [^>]*>\n(.*)\n<\/tool_output>$/s.exec(content) ?? [];
  const { result_payload } = JSON.parse(json) as { readonly result_payload?: Told };
  return { ...(result_payload?.data && { data: result_payload.data }) };
}
