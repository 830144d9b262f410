/** Sentences of the server about requests and runs that failed, as readers of a page meet them. */
export const GERMAN_SERVER = {
  "A bearer token is required. Send it in the header Authorization.":
    "Ein Token ist nötig. Melden Sie sich an.",
  "The bearer token is unknown, expired or not meant for this deployment. Get a new one.":
    "Der Token ist unbekannt, abgelaufen oder nicht für dieses Deployment. Melden Sie sich neu an.",
  "Tokens cannot be verified at the moment. Try again after the time in Retry-After.":
    "Token lassen sich gerade nicht prüfen. Versuchen Sie es später noch einmal.",
  "Too many requests in a short time. Try again after the time in Retry-After.":
    "Zu viele Anfragen in kurzer Zeit. Versuchen Sie es später noch einmal.",
  "The token may not make this request. Use a token with the needed scope.":
    "Ihr Token darf das nicht. Dafür fehlt ihm ein Recht.",
  "The body is too large. Send a smaller one.": "Das ist zu groß. Senden Sie weniger.",
  "The body does not have the expected shape. Change what the errors name.":
    "Die Anfrage hat nicht die erwartete Form. Ändern Sie, was die Fehler nennen.",
  "A requested tool is not available. Use tools that GET /v1/tools lists.":
    "Ein verlangtes Werkzeug ist nicht verfügbar.",
  "A connection is not available to this caller.":
    "Eine Verbindung steht Ihnen nicht zur Verfügung.",
  "A file is not accepted. The error at its pointer says why.": "Eine Datei wird nicht angenommen.",
  "The files are too large. Send fewer or smaller ones.":
    "Die Dateien sind zu groß. Senden Sie weniger oder kleinere.",
  "The model cannot take a file. Use another model.":
    "Das Modell nimmt keine Datei an. Benutzen Sie ein anderes Modell.",
  "The conversation is too long. Start a new one.":
    "Die Unterhaltung ist zu lang. Beginnen Sie eine neue.",
  "There is no such conversation. Check the id and the tenant of the token.":
    "Diese Unterhaltung gibt es nicht.",
  "The conversation was deleted. Start a new one.":
    "Die Unterhaltung wurde gelöscht. Beginnen Sie eine neue.",
  "The deletion was interrupted. Send the request again; it goes on where it ended.":
    "Das Löschen wurde unterbrochen. Löschen Sie noch einmal; es geht weiter, wo es aufhörte.",
  "Somebody still works on the conversation. Wait for the runs, or settle what they await.":
    "An der Unterhaltung arbeitet noch jemand. Warten Sie, oder erledigen Sie, worauf sie wartet.",
  "The conversation has a newer turn. Continue headId, or name parentId to branch.":
    "Die Unterhaltung ging anderswo weiter. Laden Sie sie neu.",
  "The request took too long to start its run. Send it again.":
    "Es dauerte zu lange, den Lauf zu beginnen. Senden Sie es noch einmal.",
  "The conversation has as many turns as it may. Start a new one.":
    "Die Unterhaltung darf nicht länger werden. Beginnen Sie eine neue.",
  "Too much was stored in this window. Try again later, or raise tenantBudgets.":
    "Es wurde zu viel gespeichert. Versuchen Sie es später noch einmal.",
  "There is no such run. Check the id and the tenant of the token.": "Diesen Lauf gibt es nicht.",
  "The run ended and is no longer stored. Start a new run.":
    "Der Lauf ist zu Ende und nicht mehr gespeichert. Beginnen Sie einen neuen.",
  "The run has ended and takes no more messages. Continue it with previousRunId.":
    "Die Antwort ist zu Ende und nimmt keine Nachricht mehr an. Stellen Sie eine neue Frage.",
  "Too many messages wait for the next step of the run. Try again later.":
    "Zu viele Nachrichten warten auf den nächsten Schritt. Versuchen Sie es später noch einmal.",
  "Too many readers follow this. Close some, or try again later.":
    "Zu viele lesen hier mit. Schließen Sie einige Seiten, oder versuchen Sie es später.",
  "Nothing more is kept of this call: its result was shown whole, or it is too old.":
    "Von diesem Aufruf ist nicht mehr gespeichert.",
  "This invocation has no unknown outcome and no mismatch. There is nothing to report.":
    "Zu diesem Aufruf gibt es nichts zu melden.",
  "This call cannot be undone. GET /v1/runs/:id says which calls can.":
    "Dieser Aufruf lässt sich nicht rückgängig machen.",
  "The caller may not use the tool that undoes this call. Ask an administrator.":
    "Sie dürfen das Werkzeug nicht benutzen, das diesen Aufruf rückgängig macht.",
  "Somebody else undoes this call, or did. GET /v1/runs/:id says how it stands.":
    "Jemand anderes macht diesen Aufruf rückgängig oder hat es getan.",
  "There is no such approval. GET /v1/approvals lists the approvals.":
    "Diese Anfrage gibt es nicht, oder Sie dürfen sie nicht sehen.",
  "The approval is closed. Read its status in the member approval.": "Die Anfrage ist geschlossen.",
  "The caller may not decide this approval. The member reason says why.":
    "Sie dürfen das nicht entscheiden.",
  "The policy refuses these arguments. Change what the errors name.":
    "Die Regeln lehnen diese Argumente ab. Ändern Sie, was die Fehler nennen.",
  "The tool does not accept these arguments. Change what the errors name.":
    "Das Werkzeug nimmt diese Argumente nicht an. Ändern Sie, was die Fehler nennen.",
  "The vote was not stored. Send it again.":
    "Die Stimme wurde nicht gespeichert. Senden Sie sie noch einmal.",
  "There is no such escalation. GET /v1/escalations lists them.": "Diese Eskalation gibt es nicht.",
  "A report or a decision about the call settles this escalation. Its address is in href.":
    "Diese Eskalation erledigt nur eine Meldung oder eine Entscheidung über den Aufruf.",
  "No such notification waits or is dead. GET /v1/notifications lists those that do.":
    "Diese Nachricht wartet nicht mehr.",
  "The run has used up its budget: {budget}. Ask an administrator to raise it.":
    "Der Lauf hat sein Budget verbraucht: {budget}. Bitten Sie um ein höheres.",
  "The run failed inside Interlock. Start a new run, and report this run's id.":
    "Der Lauf ist in Interlock fehlgeschlagen. Beginnen Sie einen neuen, und melden Sie diesen.",
  "The run failed inside Interlock. Start a new run, and report {id}.":
    "Der Lauf ist in Interlock fehlgeschlagen. Beginnen Sie einen neuen, und melden Sie {id}.",
  "The policy of this run cannot be read, so the run's budgets are unknown. Start a new run.":
    "Die Regeln dieses Laufs lassen sich nicht lesen. Beginnen Sie einen neuen.",
  "The tools of this run could not be read. Start a new run later.":
    "Die Werkzeuge dieses Laufs ließen sich nicht lesen. Beginnen Sie später einen neuen.",
  "Policy does not show data of this conversation to this caller, model or assistant. Start a new conversation.":
    "Die Regeln zeigen Daten dieser Unterhaltung Ihnen, dem Modell oder dem Assistenten nicht. Beginnen Sie eine neue.",
  "What the deployment knows about this conversation could not be read. Try again later.":
    "Was das Deployment über diese Unterhaltung weiß, ließ sich nicht lesen. Versuchen Sie es später.",
  "The earlier messages of this conversation were deleted. Start a new conversation.":
    "Die früheren Nachrichten wurden gelöscht. Beginnen Sie eine neue Unterhaltung.",
  "The conversation is too long to go on. Start a new conversation.":
    "Die Unterhaltung ist zu lang, um weiterzugehen. Beginnen Sie eine neue.",
  "The outcome of a tool call is unknown, and no operator resolved it in time. Check whether the change happened before you ask for it again.":
    "Das Ergebnis eines Aufrufs ist unbekannt, und niemand hat es rechtzeitig gemeldet. Prüfen Sie, ob die Änderung geschehen ist, bevor Sie sie noch einmal verlangen.",
  "A check of this deployment ended the run because of a tool call. The call says why.":
    "Eine Prüfung dieses Deployments hat den Lauf wegen eines Aufrufs beendet. Der Aufruf sagt, warum.",
  "The deployment no longer offers the model of this run. Start a new run with another model.":
    "Das Modell dieses Laufs wird nicht mehr angeboten. Beginnen Sie einen neuen mit einem anderen.",
  "{why} It answered with HTTP {status}.": "{why} Die Antwort war HTTP {status}.",
  "The model provider refused the request.": "Der Anbieter des Modells hat die Anfrage abgelehnt.",
  "The model provider could not be reached. Try again later.":
    "Der Anbieter des Modells war nicht zu erreichen. Versuchen Sie es später.",
  "The model provider reported an error while it answered. Try again later.":
    "Der Anbieter des Modells meldete beim Antworten einen Fehler. Versuchen Sie es später.",
  "The model provider sent data that could not be read. Try again later.":
    "Der Anbieter des Modells sandte etwas, das sich nicht lesen ließ. Versuchen Sie es später.",
  "The model provider sent more than a run may receive. Ask for less at once.":
    "Der Anbieter des Modells sandte mehr, als ein Lauf annehmen darf. Fragen Sie nach weniger auf einmal.",
  "The model provider's answer ended before it was complete. Try again later.":
    "Die Antwort des Modells endete, bevor sie vollständig war. Versuchen Sie es später.",
  "The model provider stopped answering. Try again later.":
    "Das Modell hat aufgehört zu antworten. Versuchen Sie es später.",
  "expected {what}, got {kind}": "erwartet wird {what}, nicht {kind}",
  "at least {value}": "mindestens {value}",
  "at most {value}": "höchstens {value}",
  "more than {value}": "mehr als {value}",
  "less than {value}": "weniger als {value}",
  "anything but {value}": "etwas anderes als {value}",
  "something that is not empty": "etwas, das nicht leer ist",
  "no such field": "kein solches Feld",
  "this field": "dieses Feld",
  "a valid value": "ein gültiger Wert",
  "a string of {count} characters": "ein Text von {count} Zeichen",
  "an array of {count}": "eine Liste von {count}",
  "an object": "ein Objekt",
  "a boolean": "ein Ja oder Nein",
  "unknown fields are not accepted": "unbekannte Felder werden nicht angenommen",
  "required field is missing": "das Feld fehlt",
  "expected one of the choices of the question": "erwartet wird eine der angebotenen Antworten",
  "this field is not shown to other approvers, so it may not be added":
    "dieses Feld sehen andere nicht, daher darf es nicht hinzukommen",
} as const;
