/** The texts of the chat, but those of approvals. */
export const GERMAN_CHAT = {
  "The server could not be reached. Check your connection and try again.":
    "Der Server ist nicht erreichbar. Prüfen Sie Ihre Verbindung, und versuchen Sie es erneut.",
  "The server answered with status {status}. Try again later.":
    "Der Server hat mit dem Status {status} geantwortet. Versuchen Sie es später erneut.",
  Continue: "Weiter",
  "Access token": "Zugangstoken",
  "A token has no spaces and no special letters. Check it and try again.":
    "Ein Token hat weder Leerzeichen noch Sonderzeichen. Prüfen Sie ihn.",
  "The server rejected this token. Check it and try again.":
    "Der Server hat diesen Token abgelehnt. Prüfen Sie ihn.",
  "This server requires an access token. The token is kept until you close this tab.":
    "Dieser Server verlangt einen Zugangstoken. Er bleibt gespeichert, bis Sie diesen Tab schließen.",
  "Copy code": "Code kopieren",
  Done: "Fertig",
  "Not done": "Nicht erledigt",
  Image: "Bild",
  "The call failed.": "Der Aufruf ist fehlgeschlagen.",
  "The outcome of a tool call is unknown. An operator has been asked to resolve it.":
    "Das Ergebnis eines Aufrufs ist unbekannt. Ein Operator wurde gebeten, es zu klären.",
  "A tool call asks a question. The conversation shows its form.":
    "Ein Aufruf stellt eine Frage. Das Formular steht in der Unterhaltung.",
  "A tool call needs an approval. The conversation shows what the call would do.":
    "Ein Aufruf braucht eine Zustimmung. Die Unterhaltung zeigt, was er tun würde.",
  "Answering…": "Antwortet…",
  "Connection lost. Reconnecting…": "Verbindung verloren. Sie wird neu aufgebaut…",
  "Answer: {answer} {ending}": "Antwort: {answer} {ending}",
  "Ask something…": "Stellen Sie eine Frage…",
  Send: "Senden",
  Stop: "Anhalten",
  Message: "Nachricht",
  "Another device continued this chat. Read its message, then send yours again.":
    "Ein anderes Gerät hat diesen Chat fortgesetzt. Lesen Sie die neue Nachricht, und senden Sie Ihre erneut.",
  "The message was not sent. {why}": "Die Nachricht wurde nicht gesendet. {why}",
  "The answer could not be stopped. {why}": "Die Antwort konnte nicht angehalten werden. {why}",
  "What would you like to know?": "Was möchten Sie wissen?",
  "Each answer shows the tools that it used.":
    "Jede Antwort zeigt, welche Werkzeuge sie benutzt hat.",
  Suggestions: "Vorschläge",
  "New conversation": "Neue Unterhaltung",
  Chats: "Chats",
  "New chat": "Neuer Chat",
  "Close the chat": "Chat schließen",
  "Opening the chat…": "Der Chat wird geöffnet…",
  "Show earlier messages": "Frühere Nachrichten anzeigen",
  Conversation: "Unterhaltung",
  "Jump to latest": "Zum Ende",
  "The server rejected this page's access token. Reload the page or sign in again.":
    "Der Server hat den Zugangstoken dieser Seite abgelehnt. Laden Sie die Seite neu, oder melden Sie sich erneut an.",
  "It is unknown whether this question was sent. Select Try again: the server asks it only once.":
    "Es ist unbekannt, ob diese Frage gesendet wurde. Wählen Sie „Erneut versuchen“: Der Server stellt sie nur einmal.",
  "A part of this page could not be loaded. Reload the page.":
    "Ein Teil dieser Seite konnte nicht geladen werden. Laden Sie die Seite neu.",
  "Undo: {name}": "Rückgängig machen: {name}",
  Undo: "Rückgängig machen",
  "Made after reading: {text}": "Aufgerufen nach dem Lesen von: {text}",
  "results of {names}": "Ergebnisse von {names}",
  "It was not undone. {why}": "Es wurde nicht rückgängig gemacht. {why}",
  "Undo is in progress.": "Es wird rückgängig gemacht.",
  "Undone.": "Rückgängig gemacht.",
  "It cannot be undone any more: it has changed since.":
    "Es lässt sich nicht mehr rückgängig machen, weil es sich seither geändert hat.",
  "The undo failed. An operator has to look into it.":
    "Das Rückgängigmachen ist fehlgeschlagen. Ein Operator muss es prüfen.",
  "The undo waits for approval.": "Das Rückgängigmachen wartet auf Zustimmung.",
  "It was not undone: the undo was refused or stopped. You can try again.":
    "Es wurde nicht rückgängig gemacht, sondern abgelehnt oder angehalten. Sie können es erneut versuchen.",
  Input: "Eingabe",
  Result: "Ergebnis",
  "Found so far": "Bisher gefunden",
  Details: "Einzelheiten",
  "Text and images": "Text und Bilder",
  "Image {number} of {name}": "Bild {number} von {name}",
  "{image} is loading.": "{image} wird geladen.",
  "{image} cannot be shown.": "{image} kann nicht angezeigt werden.",
  "Progress of {tool}": "Fortschritt von {tool}",
  " begins at {time}": " beginnt um {time}",
  "attempt {attempt}": "Versuch {attempt}",
  Requested: "Angefragt",
  "Waiting for approval": "Wartet auf Zustimmung",
  "Waiting for an answer": "Wartet auf eine Antwort",
  Running: "Läuft",
  "Waiting for an operator": "Wartet auf einen Operator",
  Failed: "Fehlgeschlagen",
  "Unknown outcome": "Ergebnis unbekannt",
  Stopped: "Angehalten",
  "The outcome of this call is unknown: it may or may not have happened.":
    "Das Ergebnis dieses Aufrufs ist unbekannt: Vielleicht ist es geschehen, vielleicht nicht.",
  " until {time}": " bis {time}",
  "An operator can resolve it{until}. The answer continues after that.":
    "Ein Operator kann es klären{until}. Danach geht die Antwort weiter.",
  "Show the whole result": "Ganzes Ergebnis anzeigen",
  "Whole result": "Ganzes Ergebnis",
  "The whole result is not kept.": "Das ganze Ergebnis ist nicht gespeichert.",
  "The server sent an answer that this page cannot read. Try again later.":
    "Der Server hat eine Antwort gesendet, die diese Seite nicht lesen kann. Versuchen Sie es später erneut.",
  "The connection was lost and could not be restored. Check your network and select Try again.":
    "Die Verbindung ging verloren. Prüfen Sie Ihr Netz, und wählen Sie „Erneut versuchen“.",
  "The server sent data that this page cannot read. Select Try again.":
    "Der Server hat Daten gesendet, die diese Seite nicht lesen kann. Wählen Sie „Erneut versuchen“.",
  "The server sent an event that is too large for this page. Select Try again.":
    "Der Server hat ein Ereignis gesendet, das für diese Seite zu groß ist. Wählen Sie „Erneut versuchen“.",
  "The server no longer stores this answer. Select Try again to ask the question again.":
    "Der Server hat diese Antwort nicht mehr. Wählen Sie „Erneut versuchen“, um die Frage noch einmal zu stellen.",
  "Try again": "Erneut versuchen",
  "Something went wrong. Select Try again.":
    "Etwas ist schiefgegangen. Wählen Sie „Erneut versuchen“.",
  "The run failed. Select Try again.":
    "Die Antwort ist fehlgeschlagen. Wählen Sie „Erneut versuchen“.",
  "This answer was interrupted too often, so it ended here. Completed tool calls are not undone.":
    "Diese Antwort wurde zu oft unterbrochen und endet hier. Abgeschlossene Aufrufe bleiben bestehen.",
  "The server no longer stores the earlier messages. This answer was given without them.":
    "Der Server hat die früheren Nachrichten nicht mehr. Diese Antwort entstand ohne sie.",
  "The answer was cut off because it reached the length limit.":
    "Die Antwort endet hier, weil sie die größte Länge erreicht hat.",
  "The answer was cut off because the conversation is too long for the model.":
    "Die Antwort endet hier, weil die Unterhaltung für das Modell zu lang ist.",
  "A content filter stopped the answer.": "Ein Inhaltsfilter hat die Antwort angehalten.",
  "The model declined to answer.": "Das Modell hat nicht geantwortet.",
  "The answer stopped because the run used all of its steps.":
    "Die Antwort endet hier, weil alle Schritte verbraucht sind.",
  "You stopped this answer.": "Sie haben diese Antwort angehalten.",
  "Reconnecting…": "Verbindung wird neu aufgebaut…",
  "Waiting for an operator…": "Wartet auf einen Operator…",
  "Waiting for an answer…": "Wartet auf eine Antwort…",
  "Waiting for approval…": "Wartet auf Zustimmung…",
  "Using a tool…": "Benutzt ein Werkzeug…",
  "Writing…": "Schreibt…",
  "Thinking…": "Denkt nach…",
  Assistant: "Assistent",
  Reasoning: "Überlegung",
  You: "Sie",
  "1 step": "1 Schritt",
  "{count} steps": "{count} Schritte",
  "The model could not answer. {model} goes on.":
    "Das Modell konnte nicht antworten. {model} macht weiter.",
  "More fields are not shown.": "Weitere Felder werden nicht angezeigt.",
  Tool: "Werkzeug",
  Yes: "Ja",
  No: "Nein",
  None: "Keine Angabe",
  "(empty)": "(leer)",
  "The tool told more, which does not fit its contract and is not shown.":
    "Das Werkzeug hat mehr mitgeteilt, was nicht zu seinem Vertrag passt und nicht angezeigt wird.",
  "The tool told more, which is too large and is not shown.":
    "Das Werkzeug hat mehr mitgeteilt, was zu groß ist und nicht angezeigt wird.",
} as const;
