import { answerAsProvider, type ScriptedStep, script } from "../fakes/scripted-model.ts";

interface Message {
  readonly role: string;
  readonly content: string | null;
}

/** Output of a tool as the model sees it. */
interface Told {
  readonly data?: Readonly<Record<string, unknown>>;
}

/** The pin of a transfer. Approvals, log and audit must never show it. */
export const PIN = "canary-pin-4711";

const SCENES: readonly (readonly [asked: RegExp, call: Call, sum: (told: Told) => string])[] = [
  [
    /bakery/,
    ["bank__transfer", { to: "bakery", amount: 40, pin: PIN }],
    ({ data }) =>
      data ? `I have sent ${String(data["moved"])} USD to the bakery.` : "No money was sent.",
  ],
  [
    /customers/,
    ["crm__share_customers", { list: "all customers", partner: "Acme Ads" }],
    ({ data }) =>
      data ? "They are shared." : "Nothing was shared. I can write to our customers instead.",
  ],
  [
    /oven/,
    ["mail__send_offer", { to: "Kim", item: "the old oven" }],
    ({ data }) => (data ? "Kim has the offer." : "Nobody answered in time, so no offer went out."),
  ],
  [
    /seat/,
    ["travel__reserve_seat", { flight: "LH1" }],
    ({ data }) => (data ? `You sit at the ${String(data["seat"])}.` : "No seat was reserved."),
  ],
];
type Call = readonly [name: string, args: object];

/** Plays a model that makes the requested call and describes its result. */
export async function answerAsStoryModel(request: Request): Promise<Response> {
  const asked = await request.json<{ readonly messages: readonly Message[] }>();
  const at = asked.messages.findLastIndex(({ role }) => role === "user");
  const content = script(...stepsFor(asked.messages.slice(at)));
  const messages = asked.messages.with(at, { role: "user", content });
  const body = JSON.stringify({ ...asked, messages });
  return answerAsProvider(new Request(request.url, { method: "POST", body }));
}

function stepsFor([question, ...turn]: readonly Message[]): readonly ScriptedStep[] {
  const scene = SCENES.find(([asked]) => asked.test(question?.content ?? ""));
  if (!scene) return [{ text: ["I do not know."] }];
  const [, [name, args], sum] = scene;
  const calls = [{ id: "call_1", name, args: JSON.stringify(args) }];
  const told = turn.findLast(({ role }) => role === "tool")?.content ?? "";
  return [{ calls }, { text: [sum(readTold(told))] }];
}

/** Extracts the observation from its label. */
function readTold(content: string): Told {
  const [, json = "{}"] = /^<tool_output [^>]*>\n(.*)\n<\/tool_output>$/s.exec(content) ?? [];
  const { result_payload } = JSON.parse(json) as { readonly result_payload?: Told };
  return { ...(result_payload?.data && { data: result_payload.data }) };
}
