/** The texts of the list of chats, and of what the reader can do with a turn. */
export const GERMAN_CHATS = {
  "Search titles": "Titel durchsuchen",
  "Search titles…": "Titel durchsuchen…",
  "Close the list of chats": "Liste der Chats schließen",
  "Show more": "Mehr anzeigen",
  "Loading…": "Wird geladen…",
  "The chat was deleted.": "Der Chat wurde gelöscht.",
  "The chat was deleted. The server still removes the last of its answers.":
    "Der Chat wurde gelöscht. Der Server entfernt noch die letzten Antworten.",
  "There are no chats so far.": "Es gibt noch keine Chats.",
  "No title has these words.": "Kein Titel enthält diese Wörter.",
  "Untitled chat": "Chat ohne Titel",
  "Waiting for people": "Wartet auf Menschen",
  "This deletes all messages of the chat, also those of its other versions, and its files, on every device. It cannot be undone. The audit log keeps its records of tool calls, and what tools changed elsewhere stays.":
    "Das löscht alle Nachrichten des Chats, auch die seiner anderen Fassungen, und seine Dateien, auf jedem Gerät. Es lässt sich nicht rückgängig machen. Das Protokoll behält seine Einträge über Aufrufe, und was Werkzeuge anderswo geändert haben, bleibt.",
  "Rename: {name}": "Umbenennen: {name}",
  "Delete: {name}": "Löschen: {name}",
  Title: "Titel",
  Save: "Speichern",
  "Delete {name}?": "{name} löschen?",
  "Delete this chat": "Diesen Chat löschen",
  Cancel: "Abbrechen",
  "An answer is still being written, or waits for people. Stop it or wait for its end, then delete the chat again.":
    "Eine Antwort wird noch geschrieben oder wartet auf Menschen. Halten Sie sie an, oder warten Sie ihr Ende ab, und löschen Sie den Chat dann erneut.",
  "The outcome of a tool call is unknown. An operator has to resolve it before the chat can be deleted.":
    "Das Ergebnis eines Aufrufs ist unbekannt. Ein Operator muss es klären, bevor der Chat gelöscht werden kann.",
  "An undo is in progress. Wait for its end, then delete the chat again.":
    "Etwas wird gerade rückgängig gemacht. Warten Sie das Ende ab, und löschen Sie den Chat dann erneut.",
  "A tool call is still being verified. Wait for its end, then delete the chat again.":
    "Ein Aufruf wird noch geprüft. Warten Sie das Ende ab, und löschen Sie den Chat dann erneut.",
  "A part of the chat did not answer. Try again in a moment.":
    "Ein Teil des Chats hat nicht geantwortet. Versuchen Sie es gleich erneut.",
  "Nothing was deleted. {why}": "Nichts wurde gelöscht. {why}",
  Copied: "Kopiert",
  "The browser does not allow copying": "Der Browser erlaubt kein Kopieren",
  "Edit your question": "Ihre Frage bearbeiten",
  "The earlier question and its answer stay as a version.":
    "Die frühere Frage und ihre Antwort bleiben als Fassung.",
  "Good answer": "Gute Antwort",
  "Bad answer": "Schlechte Antwort",
  "Comment on this answer": "Kommentar zu dieser Antwort",
  "Why? (optional)": "Warum? (freiwillig)",
  "Send comment": "Kommentar senden",
  "Thank you. Your comment was sent.": "Danke. Ihr Kommentar wurde gesendet.",
  "This chat does not exist, or it is not yours.":
    "Diesen Chat gibt es nicht, oder er gehört nicht Ihnen.",
  "This chat was deleted.": "Dieser Chat wurde gelöscht.",
  "Answer again": "Erneut antworten",
  Edit: "Bearbeiten",
  "Copy question": "Frage kopieren",
  "Copy answer": "Antwort kopieren",
  "Earlier version": "Frühere Fassung",
  "Later version": "Spätere Fassung",
  Versions: "Fassungen",
  "{at} of {count}": "{at} von {count}",
} as const;
