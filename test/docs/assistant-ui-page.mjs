import {
  AssistantRuntimeProvider,
  ComposerPrimitive,
  MessagePrimitive,
  ThreadPrimitive,
} from "@assistant-ui/react";
import { createElement } from "react";
import { createRoot } from "react-dom/client";

// The smallest page of assistant-ui: what people said, what came back, and one button.

const Text = ({ text }) => createElement("p", null, text);

const Tool = ({ toolName, result, approval, interrupt, respondToApproval }) =>
  createElement(
    "section",
    null,
    `${toolName}: ${result === undefined ? "open" : "ended"}`,
    result === undefined && (approval || interrupt)
      ? createElement(
          "button",
          { onClick: () => void respondToApproval({ approved: true }) },
          "Allow",
        )
      : null,
  );

const parts = { Text, tools: { Fallback: Tool } };
const Message = () =>
  createElement(
    MessagePrimitive.Root,
    null,
    createElement(MessagePrimitive.Parts, { components: parts }),
  );

const Page = ({ useInterlock }) =>
  createElement(
    AssistantRuntimeProvider,
    { runtime: useInterlock() },
    createElement(
      ThreadPrimitive.Root,
      null,
      createElement(ThreadPrimitive.Messages, { components: { Message } }),
      createElement(
        ComposerPrimitive.Root,
        null,
        createElement(ComposerPrimitive.Input, { placeholder: "Say" }),
        createElement(ComposerPrimitive.Send, null, "Send"),
      ),
    ),
  );

/** Draws the page around the hook of a recipe. */
export function draw(useInterlock) {
  createRoot(document.querySelector("main")).render(createElement(Page, { useInterlock }));
}
