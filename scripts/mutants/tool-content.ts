import type { Mutant } from "./mutant.ts";

const IMAGES = "test/http/tool-images.test.ts";
const TEST = "test/http/tool-content.test.ts";

/** What keeps the text and the images of tools declared, harmless, bounded and kept. */
export const TOOL_CONTENT: readonly Mutant[] = [
  {
    name: "a caller who knows a run's id reads its images",
    file: "src/run/answers.ts",
    from: "    if (missing) return missing;\n    const { content = [] }",
    to: "    const { content = [] }",
    test: { file: IMAGES, name: "is an unknown run to mallory" },
  },
  {
    name: "the chat page shows an SVG that is said to be an image of a tool",
    file: "src/widget/chat/tool-images.ts",
    from: "response.ok && IMAGE_TYPE.test(image.type)",
    to: "response.ok",
    test: {
      file: "test/widget/page-tool-content.node.test.ts",
      name: "an image of another type, or that cannot be read, is named and not shown",
    },
  },
  {
    name: "a browser shows an image of a tool as a page of the deployment",
    file: "src/http/runs/tool-images.ts",
    from: "`attachment; ",
    to: "`inline; ",
    test: {
      file: IMAGES,
      name: "is its bytes under its own type, and a browser saves it as a file",
    },
  },
  {
    name: "a tool answers more images than its contract declares",
    file: "src/contracts/bind/read-content.ts",
    from: "images <= maxImages && ",
    to: "",
    test: { file: TEST, name: "more images than declared" },
  },
  {
    name: "the images of a tool have no size limit",
    file: "src/contracts/bind/read-content.ts",
    from: "imageBytes <= maxImageBytes && ",
    to: "",
    test: { file: TEST, name: "images larger together than declared" },
  },
  {
    name: "a tool answers text that its contract does not declare",
    file: "src/contracts/bind/read-content.ts",
    from: "(maxTextBytes > 0 || !hasText)",
    to: "true",
    test: { file: TEST, name: "text where none is declared" },
  },
  {
    name: "the bytes of a tool's image are not compared with its type",
    file: "src/contracts/bind/read-content.ts",
    from: "if (!beginsAs(mediaType, base64)) return undefined;",
    to: "",
    test: { file: TEST, name: "a GIF that says it is a PNG" },
  },
  {
    name: "an unknown field of a tool's content passes",
    file: "src/contracts/bind/read-content.ts",
    from: "if (Object.keys(more).length > 0) return undefined;",
    to: "",
    test: { file: TEST, name: "a field too many" },
  },
  {
    name: "the text of a tool is not labelled",
    file: "src/wire/model/message-parts.ts",
    from: 'return ready.type === "text" ? label(ready.text) : ready;',
    to: "return ready;",
    test: {
      file: TEST,
      name: "it cannot leave its label, and hidden characters and links are removed",
    },
  },
  {
    name: "the text of a tool is not cleaned",
    file: "src/runner/output/normalise-output.ts",
    from: 'replaceTexts(content.value, read.value.value["texts"] as readonly string[])',
    to: "content.value",
    test: {
      file: TEST,
      name: "it cannot leave its label, and hidden characters and links are removed",
    },
  },
  {
    name: "a veto leaves the content of a tool",
    file: "src/runner/finalise.ts",
    from: "if (veto) return { ...conclusion, outcome: withhold(outcome, veto), warnings: undo.warnings };",
    to: "if (veto) return { ...conclusion, content: keepImages(ports.images, content), outcome: withhold(outcome, veto), warnings: undo.warnings };",
    test: {
      file: "test/runner/gates/hooks.test.ts",
      name: "see the content beside a result, and withhold it too",
    },
  },
  {
    name: "a crash loses the content of a tool",
    file: "src/runner/outcome/exec-result.ts",
    from: "...(content && { content }),",
    to: "",
    test: { file: TEST, name: "survives a crash before its result is in the conversation" },
  },
  {
    name: "the images of a tool cost no tokens",
    file: "src/wire/model/message-parts.ts",
    from: "parts ?? content ?? []",
    to: "parts ?? []",
    test: { file: TEST, name: "holds the tokens of a tool's images" },
  },
  {
    name: "an unbounded image passes for a used-up budget",
    file: "src/loop/model-budget.ts",
    from: "if (input === Infinity) return fail(UNBOUNDED);",
    to: "",
    test: { file: TEST, name: "ends a run whose model has no bound for an image" },
  },
  {
    name: "tools fill a conversation with images",
    file: "src/loop/conversation-images.ts",
    from: "if (this.#bytes + added > MAX_CONVERSATION_FILE_BYTES) return undefined;",
    to: "",
    test: { file: TEST, name: "becomes a note when the files of the conversation are too large" },
  },
  {
    name: "every run of a conversation stores an image again",
    file: "src/loop/conversation-images.ts",
    from: "return known && found?.has(hash) ? known : { ...image, hash };",
    to: "return { ...image, hash };",
    test: { file: TEST, name: "is stored once per conversation, and continues with it" },
  },
  {
    name: "a deleted image is not kept anew",
    file: "src/loop/conversation-images.ts",
    from: "return known && found?.has(hash) ? known : { ...image, hash };",
    to: "return known ?? { ...image, hash };",
    test: { file: TEST, name: "is kept anew when its keeper has deleted it" },
  },
  {
    name: "a model without images gets the images of a tool",
    file: "src/wire/model/message-parts.ts",
    from: "? { ...message, content: message.content.map(fit) }",
    to: "? message",
    test: { file: TEST, name: "reach a model without images as a labelled note" },
  },
];
