const TEXTS = {
  en: {
    label: "Chat",
    news: "new answer",
    failed: "The chat could not be loaded. Check your network, close the chat and open it again.",
  },
  de: {
    label: "Chat",
    news: "neue Antwort",
    failed:
      "Der Chat konnte nicht geladen werden. Prüfen Sie Ihre Verbindung, und öffnen Sie ihn erneut.",
  },
};

/** The texts of the button, in the language that the element or its page names. */
export function textsOfLauncher(element: Element): (typeof TEXTS)["en"] {
  const language = element.closest("[lang]")?.getAttribute("lang") ?? "";
  return /^de(?:-|$)/i.test(language) ? TEXTS.de : TEXTS.en;
}
