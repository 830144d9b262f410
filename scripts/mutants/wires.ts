import type { Mutant } from "./mutant.ts";

/** What keeps a provider's answer from being taken for something else. */
export const WIRES: readonly Mutant[] = [
  {
    name: "a finish word that names a failure is a stop",
    file: "src/wire/model/event-decoder.ts",
    from: 'return FAILURE.test(word.toLowerCase()) ? "error" : other;',
    to: "return other;",
    test: {
      file: "test/http/provider-quirks.test.ts",
      name: "fails the model call, and its tool calls do not run",
    },
  },
  {
    name: "a custom tool call is read as a call",
    file: "src/wire/openai/openai-tool-decoder.ts",
    from: "(delta && foreignCall(delta)),",
    to: "undefined,",
    test: {
      file: "test/http/provider-quirks.test.ts",
      name: "a custom tool call fails the model call, and no other call of the answer runs",
    },
  },
  {
    name: "a tool name in pieces is not joined",
    file: "src/wire/model/tool-call-assembler.ts",
    from: "if (isPiece) call.name",
    to: "if (!call) call.name",
    test: {
      file: "test/http/provider-quirks.test.ts",
      name: "a tool name in pieces is joined, and the tool runs once",
    },
  },
  {
    name: "pieces of a name are joined although one of them was offered",
    file: "src/wire/model/call-boundary.ts",
    from: "return isWhole || !call.arguments.blank ? undefined : true;",
    to: "return isWhole || call.arguments.blank;",
    test: {
      file: "test/wire/openai/hostile-streams.test.ts",
      name: "are two calls where both were offered, and unclear where one was",
    },
  },
  {
    name: "a call that is repeated at its place under new ids is another call",
    file: "src/wire/model/merge-statements.ts",
    from: 'return samePlace || sameItem ? "same" : "unclear";',
    to: 'return "other";',
    test: {
      file: "test/http/provider-call-ids.test.ts",
      name: "its calls (done_under_new_ids) causes each effect once",
    },
  },
  {
    name: "spaces make another call",
    file: "src/wire/model/merge-statements.ts",
    from: "this.#textKey === other.#textKey || this.#key() === other.#key()",
    to: "this.#textKey === other.#textKey",
    test: {
      file: "test/http/provider-call-ids.test.ts",
      name: "its calls (listed_under_new_ids) causes each effect once",
    },
  },
  {
    name: "calls run although two readings of the stream remain",
    file: "src/wire/model/merge-statements.ts",
    from: 'else if (relations.includes("unclear")) return false;',
    to: "",
    test: {
      file: "test/http/provider-call-ids.test.ts",
      name: "Responses with the item done again under new ids, without a place",
    },
  },
  {
    name: "a call that only the list at the end has runs, whatever the stream has",
    file: "src/wire/model/merge-statements.ts",
    from: "if (listed.canRun && (isRepeated || isInstead)) return false;",
    to: "",
    test: {
      file: "test/http/provider-call-ids.test.ts",
      name: "Responses with a call listed twice that the stream has once",
    },
  },
  {
    name: "a call that the list at the end lacks runs beside an equal one",
    file: "src/wire/model/merge-statements.ts",
    from: "return ![...free].some(",
    to: "return ![].some(",
    test: {
      file: "test/wire/responses/responses-quirks.test.ts",
      name: "that contradict themselves are ambiguous",
    },
  },
  {
    name: "other whole arguments of a call replace the first ones",
    file: "src/wire/model/tool-call-assembler.ts",
    from: "if (isWhole) this.#isUnclear ||= contradicts(call, fragment);",
    to: "contradicts;",
    test: {
      file: "test/wire/responses/responses-quirks.test.ts",
      name: "that contradict themselves are ambiguous",
    },
  },
  {
    name: "arguments that never arrived are empty ones",
    file: "src/wire/model/answer-decoder.ts",
    from: "collected.blank && (cut || this.#finish === undefined)",
    to: "collected.blank && cut",
    test: {
      file: "test/http/provider-call-ids.test.ts",
      name: "without a stop reason runs: false (scripted-a)",
    },
  },
  {
    name: "the empty input of a block's start is arguments",
    file: "src/wire/anthropic/anthropic-tool-decoder.ts",
    from: 'return text === "{}" ? {} : callPart(block, text);',
    to: "return callPart(block, text);",
    test: {
      file: "test/wire/anthropic/messages-quirks.test.ts",
      name: "without input are empty only where the message ended well",
    },
  },
  {
    name: "a call whose item is never done is complete",
    file: "src/wire/model/tool-call-assembler.ts",
    from: "isCut: isOpen && (",
    to: "isCut: !isOpen && (",
    test: {
      file: "test/http/provider-call-ids.test.ts",
      name: "that is not done runs: false (scripted-r)",
    },
  },
  {
    name: "a message that begins anew goes on",
    file: "src/wire/anthropic/anthropic-tool-decoder.ts",
    from: 'if (this.#started > 0) return { error: "the message began anew" };',
    to: "",
    test: {
      file: "test/wire/anthropic/messages-quirks.test.ts",
      name: "of a message that begins anew never run",
    },
  },
  {
    name: "an answer of another wire is read to its end",
    file: "src/wire/model/answer-decoder.ts",
    from: "if (found === undefined || found === wire) return;",
    to: "return;",
    test: {
      file: "test/http/logs.test.ts",
      name: "an answer of another wire ends the run at once, and the log says how to name the model",
    },
  },
  {
    name: "reasoning goes to another model",
    file: "src/wire/model/opaque.ts",
    from: "return wire === reader.wire && model === reader.model ? keepItems(items) : undefined;",
    to: "return wire === reader.wire || model === reader.model ? keepItems(items) : undefined;",
    test: {
      file: "test/http/model-wires.test.ts",
      name: "goes back verbatim while the model stays, and not to another model",
    },
  },
  {
    name: "reasoning is not sent back",
    file: "src/loop/run-step.ts",
    from: "return matchesOpaque(answer, toolCalls) ? { ...message, opaque: answer.opaque } : message;",
    to: "return message;",
    test: {
      file: "test/http/model-wires.test.ts",
      name: "goes back verbatim while the model stays, and not to another model",
    },
  },
  {
    name: "reasoning summaries are passed on without being asked for",
    file: "src/wire/model/answer-decoder.ts",
    from: 'if (this.#summaries) this.#addDelta("summary", summary);',
    to: 'this.#addDelta("summary", summary);',
    test: {
      file: "test/http/reasoning-summaries.test.ts",
      name: "are off by default: nobody asks for them, and nobody sees them",
    },
  },
  {
    name: "a reasoning summary is text",
    file: "src/loop/answer-parts.ts",
    from: 'return type === "text_delta" ? this.#showText(text) : this.#showReasoning(text);',
    to: "return this.#showText(text);",
    test: {
      file: "test/http/reasoning-summaries.test.ts",
      name: "are a part of their own, before the text and never in it",
    },
  },
  {
    name: "the reasoning parts of an answer have no bound",
    file: "src/loop/answer-parts.ts",
    from: "if (this.#reasoningParts === MAX_REASONING_PARTS) return [];",
    to: "",
    test: {
      file: "test/loop/answer-parts.test.ts",
      name: "a provider that alternates reasoning and text opens a bounded number of parts",
    },
  },
  {
    name: "reasoning that a crash cut off stays open",
    file: "src/loop/run-memory.ts",
    from: '...openReasoning.map((part) => ({ type: "reasoning_finished", part }) as const),',
    to: "",
    test: {
      file: "test/loop/answer-parts.test.ts",
      name: "reasoning that a crash cut off is finished and withdrawn with its text",
    },
  },
  {
    name: "a tool call without a name is kept",
    file: "src/wire/model/answer-decoder.ts",
    from: 'if (calls.some(({ name }) => name === "")) {',
    to: "if (false) {",
    test: { file: "test/http/model-wires.test.ts", name: "fails when a tool call has no name" },
  },
  {
    name: "a stream without a terminal event is an answer",
    file: "src/wire/model/answer-decoder.ts",
    from: "const isOver = this.#events.endsWithDone && this.#finish !== undefined;",
    to: "const isOver = true;",
    test: {
      file: "test/wire/model/decoder-suite.test.ts",
      name: "an answer that breaks off anywhere is an error or the whole answer",
    },
  },
  {
    name: "a report of tokens keeps every field",
    file: "src/wire/anthropic/anthropic-tool-decoder.ts",
    from: "for (const name of COUNTS) {",
    to: "for (const name of Object.keys({ ...this.#counts, ...reported }) as typeof COUNTS) {",
    test: {
      file: "test/wire/anthropic/messages-work.node.test.ts",
      name: "a small event after many fields of a report of tokens is little work",
    },
  },
  {
    name: "each signature copies all fields before it",
    file: "src/wire/anthropic/anthropic-tool-decoder.ts",
    from: "for (const [name, value] of Object.entries(changed)) block.fields.set(name, value);",
    to: "for (const [name, value] of [...block.fields, ...Object.entries(changed)]) block.fields.set(name, value);",
    test: {
      file: "test/wire/anthropic/messages-work.node.test.ts",
      name: "a small event after many fields of a signature is little work",
    },
  },
  {
    name: "an answer may open any number of blocks",
    file: "src/wire/anthropic/anthropic-tool-decoder.ts",
    from: "if (++this.#started > MAX_BLOCKS)",
    to: "if (++this.#started < 0)",
    test: {
      file: "test/wire/anthropic/messages-quirks.test.ts",
      name: "an answer with more blocks than any answer has is an error",
    },
  },
  {
    name: "the call of a provider's program is run",
    file: "src/wire/anthropic/anthropic-tool-decoder.ts",
    from: 'if (caller !== "direct") {',
    to: "if (false) {",
    test: {
      file: "test/wire/anthropic/messages-quirks.test.ts",
      name: "only a call with the caller direct is listed",
    },
  },
  {
    name: "the result of an edited call does not show what ran",
    file: "src/runner/outcome/observe.ts",
    from: 'const what = shown.length > MAX_EDITED_CHARS ? "" : `. It ran with ${shown}`;',
    to: 'const what = shown.length > MAX_EDITED_CHARS ? "" : "";',
    test: {
      file: "test/http/approval-edits.test.ts",
      name: "one sufficient approver edits and approves in one request",
    },
  },
  {
    name: "the output of a start counts although no final report came",
    file: "src/wire/anthropic/anthropic-tool-decoder.ts",
    from: "...(isFinal && counted), finish",
    to: "...counted, finish",
    test: {
      file: "test/wire/anthropic/messages-quirks.test.ts",
      name: "a stream without a final report of its usage has none",
    },
  },
  {
    name: "the wire changes within its revision",
    file: "src/wire/assistant-transport/encode-event.ts",
    from: 'const DONE_FRAME = "data: [DONE]\\n";',
    to: 'const DONE_FRAME = "data: [END]\\n";',
    test: {
      file: "test/wire/assistant-transport/revision.node.test.ts",
      name: "the text of every event is that of the encoder's revision",
    },
  },
];
