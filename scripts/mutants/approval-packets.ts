import type { Mutant } from "./mutant.ts";

const SHOWN = "test/http/approval-shown.test.ts";

/** What a person reads before an approval, and the rules that ask for one. */
export const APPROVAL_PACKETS: readonly Mutant[] = [
  {
    name: "a description of an author that throws prevents the packet",
    file: "src/runner/approval/describe-action.ts",
    from: "    onThrown(thrown);\n    return {};",
    to: "    throw thrown;",
    test: {
      file: "test/runner/approval/build-packet.test.ts",
      name: "gets the general text when it throws",
    },
  },
  {
    name: "a cut text does not say how much is hidden",
    file: "src/runner/approval/describe-action.ts",
    from: "return `${kept}… (${whole.length - kept.length} more characters are not shown)`;",
    to: "return kept;",
    test: {
      file: "test/runner/approval/build-packet.test.ts",
      name: "long texts are cut between characters, with the exact number of hidden characters",
    },
  },
  {
    name: "a preview may take any time",
    file: "src/runner/approval/preview-states.ts",
    from: "answerWithin({ clock, timeoutMs, signal }, ask)",
    to: "answerWithin({ clock, timeoutMs: timeoutMs * 1e9, signal }, ask)",
    test: {
      file: "test/runner/approval/build-packet.test.ts",
      name: "that never answers leaves the states unknown and does not prevent the packet",
    },
  },
  {
    name: "a preview that throws prevents the packet",
    file: "src/runner/approval/preview-states.ts",
    from: '    log.fault("packet_incomplete", thrown, about);\n    return unknown;',
    to: "    void about;\n    throw thrown;",
    test: {
      file: "test/runner/approval/build-packet.test.ts",
      name: "that throws leaves the states unknown and does not prevent the packet",
    },
  },
  {
    name: "an approved call runs whatever its preview shows now",
    file: "src/runner/approval/require-approval.ts",
    from: "holds && now?.changes.length === 0",
    to: "holds && now",
    test: {
      file: SHOWN,
      name: "are the same: a price that rose while the question was open asks again, and marks it",
    },
  },
  {
    name: "votes for another price count",
    file: "src/runner/approval/require-approval.ts",
    from: "holds && now?.changes.length === 0",
    to: "holds && (now?.changes.length === 0 || known.requirement.required > 1)",
    test: { file: SHOWN, name: "all votes fall: two people agreed to another price" },
  },
  {
    name: "a preview that fails counts as unchanged",
    file: "src/runner/approval/build-packet.ts",
    from: "if (!seen) return { packet, changes: [] };",
    to: "if (!seen || !states.beforeState) return { packet, changes: [] };",
    test: {
      file: SHOWN,
      name: "a preview that fails after the approval is a stale question and no effect",
    },
  },
  {
    name: "a call in a state that never stands still asks for ever",
    file: "src/runner/approval/request.ts",
    from: "if ((request.timesChanged ?? 0) > MAX_TIMES_CHANGED)",
    to: "if ((request.timesChanged ?? 0) > MAX_TIMES_CHANGED * 99)",
    test: {
      file: SHOWN,
      name: "a state that never stands still ends the call after four questions",
    },
  },
  {
    name: "an editor's vote counts although what the editor saw has changed",
    file: "src/runner/approval/request.ts",
    from: " || request.changedTerms || request.changedShown) return undefined;",
    to: " || request.changedTerms) return undefined;",
    test: { file: SHOWN, name: "an editor's vote falls when what the editor saw has changed" },
  },
  {
    name: "every field of a state may drift",
    file: "src/protocol/approval/shown.ts",
    from: '(name === "*" || name === path[at])',
    to: "true",
    test: {
      file: "test/protocol/approval/shown.node.test.ts",
      name: "a field beside it",
    },
  },
  {
    name: "a write is compared with a state that it may have changed itself",
    file: "src/runner/approval/require-approval.ts",
    from: "if (record && isUnknownWrite(record))",
    to: "if (record && isUnknownWrite(record) && !record.binding)",
    test: {
      file: SHOWN,
      name: "a write is repeated without a question after its own effect changed the state",
    },
  },
  {
    name: "a token is not bound to what people saw",
    file: "src/protocol/approval/terms.ts",
    from: "{ ...flatten(terms), shown: boundPart(packet) }",
    to: "{ ...flatten(terms), ...(packet ? {} : boundPart(packet)) }",
    test: {
      file: "test/runner/approvals.test.ts",
      name: "an approval whose stored packet is not what people signed is requested again",
    },
  },
  {
    name: "an amount of the preview counts in no limit",
    file: "src/runner/prepare.ts",
    from: 'if (typeof subject.tool.amountField !== "object") return ok(subject);',
    to: 'if (typeof subject.tool.amountField !== "function") return ok(subject);',
    test: { file: SHOWN, name: "counts in the limit of the run" },
  },
  {
    name: "an amount that nobody can read moves nothing",
    file: "src/runner/gates/check-ceilings.ts",
    from: "return readAmount({ before, after }, pointer, undefined);",
    to: "return readAmount({ before, after }, pointer, 0);",
    test: { file: SHOWN, name: "stops the call when it is missing" },
  },
  {
    name: "a preview shows a state of any size",
    file: "src/runner/author-code/read-state.ts",
    from: "utf8Bytes(JSON.stringify(shown)) <= MAX_STATE_BYTES ? shown : null",
    to: "shown",
    test: {
      file: "test/runner/approval/build-packet.test.ts",
      name: "that returns too much leaves the states unknown and does not prevent the packet",
    },
  },
  {
    name: "a text that looks like another value is not quoted",
    file: "src/protocol/approval/packet-lines.ts",
    from: 'value === "" || MAY_BE_JSON.test(value) ? `"${value}"` : value;',
    to: "value;",
    test: {
      file: "test/protocol/approval/packet-lines.node.test.ts",
      name: "no two objects give the same lines",
    },
  },
  {
    name: "the label of a line hides characters",
    file: "src/protocol/approval/packet-lines.ts",
    from: "[toVisible(label), toVisible(text)]",
    to: "[{ text: label, notes: [] }, toVisible(text)]",
    test: {
      file: "test/protocol/approval/packet-lines.node.test.ts",
      name: "names of fields are made visible like values, and remarked on",
    },
  },
  {
    name: "arguments too many for lines of their own are cut",
    file: "src/protocol/approval/packet-lines.ts",
    from: "return [line(field, STATES[field], JSON.stringify(object)), ...linesOfRows(object, hidden)];",
    to: "return linesOfRows(object, [...rows, ...hidden]);",
    test: {
      file: "test/protocol/approval/packet-lines.node.test.ts",
      name: "arguments too many for lines of their own are shown whole in one line",
    },
  },
];
