import { type FixtureResponse, LLMock } from "@copilotkit/aimock";
import type { OfflineAnswer, OfflineScenario } from "../../src/testing/run/offline-scenario.ts";
import { call, readTurn, text } from "./offline-turn.ts";

const READING_SPEED = 40;
const TALKING_SPEED = 14;

/** A running offline model. */
export interface OfflineModel {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/**
 * Starts an OpenAI-compatible server on loopback that answers from fixtures: text, one tool, two
 * tools at once, a chain of three steps, wrong arguments with a correction, a long answer, and any
 * call that the user message contains. The scenarios of the application are asked first.
 * Contract: no key, no network; `url` ends in `/v1`.
 */
export async function startOfflineModel(
  ofApplication: readonly OfflineScenario[] = [],
): Promise<OfflineModel> {
  const server = new LLMock({ port: 0, host: "127.0.0.1", logLevel: "silent" });
  const scenarios = [MADE_CALL, ...ofApplication, ...SCENARIOS];
  for (const { asked, steps, speed = READING_SPEED } of scenarios) {
    for (const [index, answer] of steps.entries()) {
      const isLast = index === steps.length - 1;
      server.on(
        {
          predicate: (request) => {
            const turn = readTurn(request);
            const { question, calls } = turn;
            return asked.test(question) && (isLast ? calls >= index : calls === index);
          },
        },
        (request) => toFixture(answer(readTurn(request))),
        { chunkSize: 5, streamingProfile: { ttft: 120, tps: speed, jitter: 0.2 } },
      );
    }
  }
  await server.start();
  return { url: `${server.url}/v1`, stop: () => server.stop() };
}

function toFixture(answer: OfflineAnswer): FixtureResponse {
  return "content" in answer ? answer : { toolCalls: [...answer.toolCalls] };
}

const CITIES: Readonly<Record<string, string>> = {
  tokyo: "Asia/Tokyo",
  "new york": "America/New_York",
  london: "Europe/London",
  paris: "Europe/Paris",
  berlin: "Europe/Berlin",
  sydney: "Australia/Sydney",
  "são paulo": "America/Sao_Paulo",
};

function citiesIn(question: string): readonly (readonly [city: string, timeZone: string])[] {
  const lower = question.toLowerCase();
  return Object.entries(CITIES).filter(([city]) => lower.includes(city));
}

const titleCase = (words: string): string =>
  words.replace(/(^|\s)\S/g, (start) => start.toUpperCase());

/** `call core__calculate {"expression":"6*7"}` */
const CALL = /^\s*call\s+([\w-]{1,64})\s+(\{.*\})\s*$/is;

const MADE_CALL: OfflineScenario = {
  name: "the call that it is told to make",
  asked: CALL,
  steps: [
    ({ question }) => {
      const [, name = "", json = "{}"] = CALL.exec(question) ?? [];
      return { toolCalls: [{ name, arguments: json }] };
    },
    ({ results }) =>
      text(
        results[0]
          ? `It answered \`${JSON.stringify(results[0])}\`.`
          : "The call did not succeed; its observation says why.",
      ),
  ],
};

const SCENARIOS: readonly OfflineScenario[] = [
  {
    name: "invalid arguments, then a correction",
    asked: /mistake|wrong argument|correct yourself/i,
    steps: [
      () => call("core__get_current_time", { zone: "Tokyo" }),
      () => call("core__get_current_time", { timeZone: "Asia/Tokyo" }),
      ({ results }) =>
        text(
          `My first call used a field that does not exist, so it was refused and I corrected it. ` +
            `In Tokyo it is ${String(results.at(-1)?.["inWords"])}.`,
        ),
    ],
  },
  {
    name: "a chain of three steps",
    asked: /plan|schedule|call with/i,
    steps: [
      () => call("core__generate_title", { title: "A call with Tokyo" }),
      () => call("core__get_current_time", { timeZone: "Asia/Tokyo" }),
      () => call("core__calculate", { expression: "17 - 9" }),
      ({ results, hasFailed }) => {
        // A call that a person rejected has no result.
        const valueOf = (key: string): string => {
          const result = results.find((known) => Object.hasOwn(known, key));
          return result ? String(result[key]) : "not known";
        };
        const done = hasFailed
          ? "One of my three calls was not made."
          : "I named this conversation, checked the clock and did the sum.";
        return text(
          `${done}\n\n` +
            `- In Tokyo it is ${valueOf("inWords")}.\n` +
            `- The office there is open for ${valueOf("result")} hours a day.\n\n` +
            `A call at 09:00 in Tokyo suits both sides.`,
        );
      },
    ],
  },
  {
    name: "two tools at once, or one",
    asked: /time|clock|date/i,
    steps: [
      ({ question }) => {
        const cities = citiesIn(question);
        const zones = cities.length > 0 ? cities.map(([, timeZone]) => timeZone) : ["UTC"];
        return {
          toolCalls: zones.map((timeZone) => ({
            name: "core__get_current_time",
            arguments: JSON.stringify({ timeZone }),
          })),
        };
      },
      ({ question, results }) => {
        const cities = citiesIn(question);
        const lines = results.map(
          ({ inWords: time }, index) =>
            `in ${titleCase(cities[index]?.[0] ?? "UTC")} it is ${String(time)}`,
        );
        return text(`Right now ${lines.join(", and ")}.`);
      },
    ],
  },
  {
    name: "a calculation",
    asked: /\d\s*(?:%|percent|plus|minus|times|[-+*/x^])/i,
    steps: [
      ({ question }) => call("core__calculate", { expression: toExpression(question) }),
      ({ results }) => {
        const result = results[0];
        return text(
          result
            ? `${String(result["expression"])} = ${String(result["result"])}.`
            : "That is not something I can compute.",
        );
      },
    ],
  },
  {
    name: "a long answer at talking speed",
    asked: /story|long|explain|poem|essay/i,
    speed: TALKING_SPEED,
    steps: [
      () =>
        text(
          [
            "An interlock is an old idea. A railway signal and the points it guards are joined by " +
              "a bar of steel, so that a signaller cannot clear the one while the other stands wrong. " +
              "Nobody has to remember the rule. The rule is in the metal.",
            "A language model is a quick and fluent colleague who proposes things all day. Most of " +
              "the proposals are good. A few are confused, a few are repeated, and now and then one " +
              "was whispered to it by a stranger's web page.",
            "So the proposals go through a frame of their own. Is there such a tool? Is it allowed " +
              "for this tenant? Are the arguments whole, of the right shape, within their bounds? " +
              "Each question has one place, and each place has one answer.",
            "What comes back to the model is an observation: what was done, or which gate said no " +
              "and what would have to change. The answer you are reading took the same road, and " +
              "each of its words is in the log of its run.",
            "If you reload the page while this sentence is still arriving, it goes on from where " +
              "it was. Try it.",
          ].join("\n\n"),
        ),
    ],
  },
  {
    name: "anything else",
    asked: /[^]*/,
    steps: [
      () =>
        text(
          "I am the **offline model**: a few prepared answers, no key and no network. Ask me for " +
            "the time in Tokyo, for the time in Tokyo and in New York, to plan a call with Tokyo, " +
            "to make a mistake and correct it, for 12.5% of 480, or for a long story. To try a tool " +
            'of your own, say: `call core__calculate {"expression":"6*7"}`.',
        ),
    ],
  },
];

/** Turns "What is 12.5% of 480?" into "(12.5 / 100) * 480". Returns a plain sum unchanged. */
function toExpression(question: string): string {
  const percent = /([\d.]+)\s*(?:%|percent) of ([\d.]+)/i.exec(question);
  if (percent) return `(${percent[1]} / 100) * ${percent[2]}`;
  const words = question
    .replace(/plus/gi, "+")
    .replace(/minus/gi, "-")
    .replace(/times|x/gi, "*")
    .replace(/divided by/gi, "/");
  return /[\d(][\d\s.+\-*/^%()]*/.exec(words)?.[0].trim() ?? "0";
}
