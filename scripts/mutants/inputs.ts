import type { Mutant } from "./mutant.ts";

const DEPLOYMENT = "test/define-deployment.test.ts";
const UPSTREAMS = "test/http/upstreams.test.ts";

/** What makes texts and ids of models, tools and clients harmless before they are used. */
export const INPUTS: readonly Mutant[] = [
  {
    name: "a name of a path may hold what ends a path after one more decoding",
    file: "src/protocol/connection/upstream-url.ts",
    from: "(?:3b|3f|23)",
    to: "(?:3b)",
    test: {
      file: "test/adapters/egress/upstream-requests.test.ts",
      name: '"..?" is refused, and nothing is sent',
    },
  },
  {
    name: "contracts that were compiled from other schemas are served",
    file: "src/contracts/catalog/compiled.ts",
    from: "if (!isSame || kept.stamp !== stampOf(contract))",
    to: "if (!isSame)",
    test: {
      file: "test/contracts/catalog/compiled.test.ts",
      name: "another schema under the same version",
    },
  },
  {
    name: "a page may have an address of the API",
    file: "src/http/pages/pages.ts",
    from: '|| path.startsWith("/v1/") ',
    to: "",
    test: { file: DEPLOYMENT, name: "a page cannot have the path /v1/chat" },
  },
  {
    name: "a page that the deployment does not name is served",
    file: "src/http/app.ts",
    from: "new Set(services.pages.flatMap(({ paths }) => paths))",
    to: 'new Set(["/", "/approvals", ...services.pages.flatMap(({ paths }) => paths)])',
    test: { file: DEPLOYMENT, name: "only the pages that it names are served" },
  },
  {
    name: "a name of an upstream's path may move out of its base path",
    file: "src/protocol/connection/upstream-url.ts",
    from: "if (encoded.some((name) => MOVES.test(name))) return undefined;",
    to: "",
    test: { file: UPSTREAMS, name: "does not leave the base path" },
  },
  {
    name: "a name of an upstream's path is written as it is",
    file: "src/protocol/connection/upstream-url.ts",
    from: "const encoded = names.map(encodeURIComponent);",
    to: "const encoded = names;",
    test: { file: UPSTREAMS, name: "writes a name or a value" },
  },
  {
    name: "a tool reaches upstreams that its contract does not name",
    file: "src/adapters/egress/admit-request.ts",
    from: "request.url === undefined && grant.upstreams.includes(request.upstream)",
    to: "request.url === undefined",
    test: {
      file: "test/adapters/egress/upstream-requests.test.ts",
      name: "an upstream that the contract does not name is refused, and nothing is sent",
    },
  },
  {
    name: "a request of a tool with an upstream goes to any host",
    file: "src/protocol/connection/egress-host.ts",
    from: "!hosts.includes(url.host)",
    to: "!hosts",
    test: {
      file: UPSTREAMS,
      name: "the credentials of a call reach its upstream, and no address that a model writes",
    },
  },
  {
    name: "an upstream may be at an address of this machine",
    file: "src/env.ts",
    from: 'const rules = { allowsLoopback: raw["DEVELOPER"] !== undefined };',
    to: "const rules = { allowsLoopback: true };",
    test: { file: UPSTREAMS, name: "may not be http://127.0.0.1:8787, and is not repeated" },
  },
  {
    name: "an upstream without an address starts",
    file: "src/compose/configure.ts",
    from: "if (env.ok && models.ok && upstreams.ok && assistants.ok && others.length === 0) {",
    to: "if (env.ok && models.ok && assistants.ok && others.length === 0) {",
    test: { file: UPSTREAMS, name: "is missing, by the name of its setting" },
  },
  {
    name: "an upstream that no setting binds starts",
    file: "src/compose/upstreams.ts",
    from: "if (unbound.length === 0) return read;",
    to: "if (unbound.length >= 0) return read;",
    test: { file: UPSTREAMS, name: "is needed for every upstream that a contract names" },
  },
  {
    name: "a call that a step repeats is made again",
    file: "src/loop/call-ids.ts",
    from: 'const isNew = toolCallId === "" || !known.has(operation);',
    to: "const isNew = true;",
    test: {
      file: "test/http/provider-call-ids.test.ts",
      name: "a call that a step repeats under its id, in the same text, is one operation",
    },
  },
  {
    name: "a call that a step repeats in other words is made again",
    file: "src/loop/call-ids.ts",
    from: "payloadOf(call)]",
    to: "call.argumentsText]",
    test: {
      file: "test/http/provider-call-ids.test.ts",
      name: "a call that a step repeats under its id, in another order, is one operation",
    },
  },
  {
    name: "another payload under the id of a call is dropped",
    file: "src/loop/call-ids.ts",
    from: "JSON.stringify([toolCallId, name, truncated, payloadOf(call)])",
    to: "toolCallId",
    test: {
      file: "test/http/provider-call-ids.test.ts",
      name: "another payload under the id of a call is another operation, with an id of its own",
    },
  },
  {
    name: "an id that looks like a secret is kept",
    file: "src/loop/call-ids.ts",
    from: "findSecret(wanted) === undefined",
    to: "true",
    test: {
      file: "test/http/provider-call-ids.test.ts",
      name: "a call whose id looks like a secret runs under another id, and the id is told to nobody",
    },
  },
  {
    name: "half a character of the model's text reaches readers",
    file: "src/loop/answer-parts.ts",
    from: "let rest = replaceHalves(delta);",
    to: "let rest: string = delta;",
    test: {
      file: "test/http/half-characters.test.ts",
      name: "half a character in text reaches readers and the model as U+FFFD, or not",
    },
  },
  {
    name: "half a character of the model's text reaches the next model call",
    file: "src/loop/relay-answer.ts",
    from: "{ ...answer, text: replaceHalves(answer.text) }",
    to: "answer",
    test: {
      file: "test/http/half-characters.test.ts",
      name: "half a character in text at the end reaches readers and the model as U+FFFD, or not",
    },
  },
  {
    name: "half a character stays in arguments",
    file: "src/loop/call-ids.ts",
    from: "replaceHalvesInJson(argumentsText)",
    to: "argumentsText",
    test: {
      file: "test/http/half-characters.test.ts",
      name: "arguments with half a character run with U+FFFD in its place",
    },
  },
  {
    name: "an escaped half stays in arguments",
    file: "src/protocol/text/whole-characters.ts",
    from: "ESCAPED_HALF.test(escape)",
    to: "false",
    test: {
      file: "test/http/half-characters.test.ts",
      name: "half a character in escaped arguments reaches readers and the model as U+FFFD, or not",
    },
  },
  {
    name: "half a character stays in a trusted tool's output",
    file: "src/runner/output/normalise-output.ts",
    from: "let data = replaceHalves(value);",
    to: "let data = value;",
    test: {
      file: "test/http/half-characters.test.ts",
      name: "half a character in the output of a trusted tool reaches readers and the model as U+FFFD, or not",
    },
  },
  {
    name: "half a character stays in a tool's failure",
    file: "src/runner/outcome/tool-failure.ts",
    from: "cutText(clean(replaceHalves(message)), MAX_MESSAGE_CHARS)",
    to: "cutText(message, MAX_MESSAGE_CHARS)",
    test: {
      file: "test/http/half-characters.test.ts",
      name: "half a character in the failure of a tool reaches readers and the model as U+FFFD, or not",
    },
  },
  {
    name: "a cut leaves half a character",
    file: "src/protocol/text/whole-characters.ts",
    from: "isHighSurrogate(text.charCodeAt(maxChars - 1)) ? maxChars - 1 : maxChars",
    to: "maxChars",
    test: {
      file: "test/http/half-characters.test.ts",
      name: "half a character in a message that is cut within a character reaches readers and the model as U+FFFD, or not",
    },
  },
  {
    name: "half a character stays in a client's messages",
    file: "src/http/request/read-json.ts",
    from: "return replaceHalves(parsed as JsonValue) as Value;",
    to: "return parsed;",
    test: {
      file: "test/http/half-characters.test.ts",
      name: "half a character in a client's history reaches the model as U+FFFD",
    },
  },
  {
    name: "half a character stays in a steering message",
    file: "src/http/runs/runs.ts",
    from: "replaceHalves(body.value.content)",
    to: "body.value.content",
    test: {
      file: "test/http/messages.test.ts",
      name: "the longest text reaches the model as it was said, half a character as U+FFFD",
    },
  },
  {
    name: "a stored half character has no hash",
    file: "src/loop/replay/decisions.ts",
    from: "return replaceHalves(decisions);",
    to: "return decisions;",
    test: {
      file: "test/loop/replay/decisions.test.ts",
      name: "a stored log with half a character has a hash, that of U+FFFD in its place",
    },
  },
  {
    name: "a re-posted observation is measured with its envelope",
    file: "src/protocol/conversation/client-history.ts",
    from: 'isObservation ? (payload["data"] ?? null) : result',
    to: "result",
    test: {
      file: "test/http/reposted-history.test.ts",
      name: "a result cut to the default limit",
    },
  },
  {
    name: "the limits of contracts do not hold for history",
    file: "src/contracts/catalog/call-limits.ts",
    from: "(limits.length === 0 ? [DEFAULTS] : limits)",
    to: "[DEFAULTS]",
    test: {
      file: "test/http/reposted-history.test.ts",
      name: "a result cut to the limit of its contract",
    },
  },
  {
    name: "the data of a re-posted observation has no limit",
    file: "src/protocol/conversation/client-history.ts",
    from: "return bytes > maxBytes ||",
    to: "return",
    test: {
      file: "test/http/reposted-history.test.ts",
      name: "data over 64 KB",
    },
  },
  {
    name: "the rest of a re-posted observation has no limit",
    file: "src/protocol/conversation/client-history.ts",
    from: " || jsonBytes(result) - bytes > MAX_ENVELOPE_BYTES",
    to: "",
    test: {
      file: "test/http/reposted-history.test.ts",
      name: "200 KB beside the data",
    },
  },
  {
    name: "the texts beside a re-posted result have no limit",
    file: "src/protocol/conversation/client-history.ts",
    from: "if (jsonBytes(texts) > limitsOf(name).maxTextBytes + MAX_NOTES_BYTES) {",
    to: "if (false) {",
    test: {
      file: "test/http/reposted-history.test.ts",
      name: "is a claim of the shape that streams have: text beyond the limit of its contract",
    },
  },
  {
    name: "validated arguments may be longer than the contract allows",
    file: "src/runner/gates/check-arguments.ts",
    from: "bytes > tool.maxArgumentsBytes ? refuseTooLarge(tool) :",
    to: "",
    test: {
      file: "test/http/reposted-history.test.ts",
      name: "numbers that JSON writes longer",
    },
  },
  {
    name: "a tool's failure has any number of errors",
    file: "src/runner/outcome/tool-failure.ts",
    from: "errors.slice(0, MAX_ERRORS)",
    to: "errors",
    test: {
      file: "test/http/reposted-history.test.ts",
      name: "a failure with many long errors",
    },
  },
  {
    name: "a workspace with a name that the schema drops is accepted, and has no members",
    file: "src/protocol/json/record.ts",
    from: "(input) => !LOST_KEYS.some((lost) => Object.hasOwn(Object(input) as object, lost))",
    to: "() => true",
    test: {
      file: "test/http/policy.test.ts",
      name: "a workspace of a name that would be dropped is refused",
    },
  },
  {
    name: "the name of a tool leaves the label of its output",
    file: "src/protocol/text/label-data.ts",
    from: '` ${name}="${escapeText(text)}"`',
    to: '` ${name}="${text}"`',
    test: {
      file: "test/wire/tool-output.test.ts",
      name: "the wrapper opens once at the start and closes once at the end, whatever is inside",
    },
  },
  {
    name: "contracts that were compiled from other tools are served",
    file: "src/contracts/catalog/compiled.ts",
    from: "if (!isSame || kept.stamp !== stampOf(contract)) throw new ContractError(contract.name, STALE);\n    return joinSchemas(contract, kept);",
    to: "void isSame;\n    return joinSchemas(contract, (kept ?? compiled.value[0]) as CompiledContract);",
    test: {
      file: "test/define-deployment.test.ts",
      name: "every request gets the reason and the remedy when the build saw other tools",
    },
  },
];
