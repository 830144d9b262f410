/** How a provider repeats the calls of an answer. Each way was seen of servers or gateways. */
export const REPETITIONS = [
  /** Sends the end of each call twice, or its only piece. */
  "done_again",
  /** As `done_again`, under new ids. */
  "done_under_new_ids",
  /** Sends all of each call twice. */
  "all_again",
  /** As `all_again`, under new ids. */
  "all_under_new_ids",
  /** Lists the calls at the end again, under new ids and with other spaces. */
  "listed_under_new_ids",
] as const;
export type Repetition = (typeof REPETITIONS)[number];

type Json = Readonly<Record<string, unknown>>;
interface Call extends Json {
  readonly id?: string;
  readonly function?: Json;
}
interface Event extends Json {
  readonly type?: string;
  readonly item?: Json;
  readonly content_block?: Json;
  readonly response?: { readonly output?: readonly Json[] };
  readonly choices?: readonly { readonly delta?: { readonly tool_calls?: readonly Call[] } }[];
}

/** Repeats the calls among the frames of a whole answer, on any wire. */
export function repeatFrames(frames: readonly string[], how: Repetition): readonly string[] {
  const isAll = how === "all_again" || how === "all_under_new_ids";
  const isNew = how.endsWith("under_new_ids");
  const out: string[] = [];
  let call: Event[] = [];
  for (const frame of frames) {
    const event = readFrame(frame);
    const isEnd = event?.type === "response.completed";
    out.push(isEnd && how === "listed_under_new_ids" ? writeFrame(listAnew(event)) : frame);
    if (!event) continue;
    if (startsCall(event)) call = [];
    call.push(event);
    const ends = endsCall(event) && (startsCall(call[0] ?? {}) || isWholePiece(event));
    if (!ends || how === "listed_under_new_ids") continue;
    const again = isAll || event.type === "content_block_stop" ? call : [event];
    out.push(...again.map((one) => writeFrame(isNew ? renew(one) : one)));
    call = [];
  }
  return how === "listed_under_new_ids" ? listInMessage(out) : out;
}

const readFrame = (frame: string): Event | undefined => {
  const data = /^data: (\{.*\})$/m.exec(frame)?.[1];
  return data === undefined ? undefined : (JSON.parse(data) as Event);
};
const writeFrame = (event: Event): string =>
  `${event.type === undefined ? "" : `event: ${event.type}\n`}data: ${JSON.stringify(event)}\n\n`;

const startsCall = ({ type, item, content_block: block, ...event }: Event): boolean =>
  (type === "response.output_item.added" && item?.["type"] === "function_call") ||
  (type === "content_block_start" && block?.["type"] === "tool_use") ||
  isWholePiece(event);
const endsCall = ({ type, item, ...event }: Event): boolean =>
  (type === "response.output_item.done" && item?.["type"] === "function_call") ||
  type === "content_block_stop" ||
  isWholePiece(event);
const isWholePiece = ({ choices }: Event): boolean =>
  choices?.[0]?.delta?.tool_calls?.[0]?.id !== undefined;

/** Writes the event with new ids, where it has any. */
function renew(event: Event): Event {
  const text = JSON.stringify(event).replaceAll(
    /"(id|call_id|item_id)":"((?:call|toolu|item|fc)[^"]*)"/g,
    '"$1":"again_$2"',
  );
  return JSON.parse(text) as Event;
}

const spaced = (call: Json): Json => ({
  ...call,
  arguments: String(call["arguments"]).replaceAll(":", " : "),
});

function listAnew(event: Event): Event {
  const { response } = renew(event);
  const output = response?.output?.map((item) =>
    item["type"] === "function_call" ? spaced(item) : item,
  );
  return { ...event, response: { ...response, ...(output && { output }) } };
}

/** Ends a stream of Chat Completions with the whole message. */
function listInMessage(frames: readonly string[]): readonly string[] {
  const calls = frames.flatMap((frame) => readFrame(frame)?.choices?.[0]?.delta?.tool_calls ?? []);
  if (calls.length === 0) return frames;
  const tool_calls = calls.map(({ id, function: asked = {} }) => ({
    id: `again_${id}`,
    function: spaced(asked),
  }));
  const whole = writeFrame({ choices: [{ index: 0, message: { tool_calls } } as never] });
  return [...frames.slice(0, -3), whole, ...frames.slice(-3)];
}
