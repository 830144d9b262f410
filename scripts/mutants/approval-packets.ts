import type { Mutant } from "./mutant.ts";

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
    file: "src/runner/approval/build-packet.ts",
    from: "answerWithin({ clock, timeoutMs, signal }, ask)",
    to: "answerWithin({ clock, timeoutMs: timeoutMs * 1e9, signal }, ask)",
    test: {
      file: "test/runner/approval/build-packet.test.ts",
      name: "that never answers leaves the states unknown and does not prevent the packet",
    },
  },
  {
    name: "a preview that throws prevents the packet",
    file: "src/runner/approval/build-packet.ts",
    from: '    log.fault("packet_incomplete", thrown, about);\n    return unknown;',
    to: "    void about;\n    throw thrown;",
    test: {
      file: "test/runner/approval/build-packet.test.ts",
      name: "that throws leaves the states unknown and does not prevent the packet",
    },
  },
  {
    name: "a preview shows a state of any size",
    file: "src/runner/read-state.ts",
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
