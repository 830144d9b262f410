import type { Mutant } from "./mutant.ts";

/** What hides secrets and withheld arguments in what leaves an execution. */
export const HIDDEN_VALUES: readonly Mutant[] = [
  {
    name: "a secret leaves in an output",
    file: "src/runner/output/normalise-output.ts",
    from: "const shown = hide(data);",
    to: "const shown = data;",
    test: {
      file: "test/http/echoed-secrets.test.ts",
      name: "is in nothing that leaves an output",
    },
  },
  {
    name: "a secret leaves in a failure",
    file: "src/runner/author-code/ask-tool.ts",
    from: "hideArguments(authority.scope.hide(value))",
    to: "hideArguments(value)",
    test: {
      file: "test/http/echoed-secrets.test.ts",
      name: "is in nothing that leaves a failure, cut in its middle",
    },
  },
  {
    name: "a withheld argument leaves in a failure",
    file: "src/runner/author-code/ask-tool.ts",
    from: "return (value) => hideArguments(authority.scope.hide(value));",
    to: "void hideArguments;\n  return (value) => authority.scope.hide(value);",
    test: {
      file: "test/http/echoed-secrets.test.ts",
      name: "as it is is hidden",
    },
  },
  {
    name: "a withheld argument leaves in a description",
    file: "src/runner/approval/describe-action.ts",
    from: "const hide = hideValues(withheldValues(args, shown));",
    to: "const hide = hideValues([]); void withheldValues(args, shown);",
    test: {
      file: "test/http/hidden-arguments.test.ts",
      name: "a description that names the PIN is shown to approvers without it",
    },
  },
  {
    name: "a cut leaves half of a secret",
    file: "src/runner/outcome/tool-failure.ts",
    from: "cutText(clean(replaceHalves(message)), MAX_MESSAGE_CHARS)",
    to: "clean(cutText(replaceHalves(message), MAX_MESSAGE_CHARS))",
    test: {
      file: "test/http/echoed-secrets.test.ts",
      name: "is in nothing that leaves a failure, cut in its middle",
    },
  },
  {
    name: "a secret leaves in a title",
    file: "src/contracts/bind/bind-tool.ts",
    from: "runTitle.set(clean(text))",
    to: "runTitle.set(text)",
    test: {
      file: "test/http/echoed-secrets.test.ts",
      name: "is in nothing that leaves an output",
    },
  },
  {
    name: "base64 is found at one alignment only",
    file: "src/protocol/text/hide-values.ts",
    from: "before < 3",
    to: "before < 1",
    test: {
      file: "test/http/echoed-secrets.test.ts",
      name: "is in nothing that leaves an output",
    },
  },
  {
    name: "percent-encoding is not found",
    file: "src/protocol/text/hide-values.ts",
    from: "for (const form of [percent, strict]) {",
    to: "for (const form of [] as string[]) {",
    test: {
      file: "test/http/echoed-secrets.test.ts",
      name: "is in nothing that leaves an output",
    },
  },
  {
    name: "a short value is shown",
    file: "src/protocol/text/hide-values.ts",
    from: "holdsWord(text, words) ? WITHHELD_TEXT : replace(text)",
    to: "replace(text)",
    test: {
      file: "test/http/echoed-secrets.test.ts",
      name: "and that is short withholds the whole text",
    },
  },
  {
    name: "a short value withholds every text in which it occurs",
    file: "src/protocol/text/hide-values.ts",
    from: "if (!isEdge(from - 1)) continue;",
    to: "",
    test: {
      file: "test/http/echoed-secrets.test.ts",
      name: "and that is short leaves words and numbers alone in which it only occurs",
    },
  },
  {
    name: "JSON with escaped slashes is not found",
    file: "src/protocol/text/hide-values.ts",
    from: 'yield json.replaceAll("/", "\\\\/");',
    to: "",
    test: { file: "test/http/echoed-secrets.test.ts", name: "is in nothing that leaves an output" },
  },
  {
    name: "percent-encoding in lower case is not found",
    file: "src/protocol/text/hide-values.ts",
    from: "yield spaced.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase());",
    to: "",
    test: { file: "test/http/echoed-secrets.test.ts", name: "is in nothing that leaves an output" },
  },
  {
    name: "base64url is not found",
    file: "src/protocol/text/hide-values.ts",
    from: 'yield form.replaceAll("+", "-").replaceAll("/", "_");',
    to: "",
    test: { file: "test/http/echoed-secrets.test.ts", name: "is in nothing that leaves an output" },
  },
];
