/** What a run did and why it ended, in the words of the protocol. */
export const GERMAN_RUN_WORDS = {
  "The model gave its answer.": "Das Modell hat geantwortet.",
  "The answer reached the length limit.": "Die Antwort hat die größte Länge erreicht.",
  "The conversation is too long for the model.": "Die Unterhaltung ist für das Modell zu lang.",
  "The provider's content filter stopped the answer.":
    "Der Inhaltsfilter des Anbieters hat die Antwort beendet.",
  "The run used all of its steps.": "Der Lauf hat alle seine Schritte verbraucht.",
  "Somebody cancelled it.": "Jemand hat ihn abgebrochen.",
  "It goes on.": "Er läuft.",
  "It waits, for people or for the next attempt of a write.":
    "Er wartet, auf Personen oder auf den nächsten Versuch einer Änderung.",
  "It failed.": "Er ist fehlgeschlagen.",
  "a time limit": "eine Frist",
  nothing: "nichts",
  ", by the consent {name}": ", durch die Zustimmung {name}",
  "begun by {who}": "begonnen von {who}",
  " for {name}": " für {name}",
  ", as the assistant {name}": ", als Assistent {name}",
  ", revision {revision}": ", Revision {revision}",
  "{who} cancelled the run{why}": "{who} hat den Lauf abgebrochen{why}",
  "ended: {what}": "beendet: {what}",
  "the model changed {what}": "das Modell wechselte: {what}",
  "the model {model} failed{status}: {detail}": "das Modell {model} versagte{status}: {detail}",
  "no words of the provider": "keine Worte des Anbieters",
  "{who} read the whole result{why}": "{who} hat das ganze Ergebnis gelesen{why}",
  "1 more call like this refused{why}: {gates}":
    "1 weiterer solcher Aufruf abgelehnt{why}: {gates}",
  "{count} more calls like this refused{why}: {gates}":
    "{count} weitere solche Aufrufe abgelehnt{why}: {gates}",
  "approval is asked for: {what}": "Zustimmung wird verlangt: {what}",
  "{who} voted {what}{by}": "{who} hat abgestimmt: {what}{by}",
  "a vote of {who} did not count: {what}": "eine Stimme von {who} zählte nicht: {what}",
  "{who} edited the arguments{why}": "{who} hat die Argumente geändert{why}",
  "{who} answered the question{why}": "{who} hat die Frage beantwortet{why}",
  "the approval closed: {what}": "die Frage ist geschlossen: {what}",
  "the approval was used": "die Zustimmung wurde verbraucht",
  "{who} consented for later calls: {what}": "{who} hat späteren Aufrufen zugestimmt: {what}",
  "{who} took the consent back{why}": "{who} hat die Zustimmung zurückgenommen{why}",
  "{who} reported the outcome: {what}": "{who} hat das Ergebnis gemeldet: {what}",
  "{who} began to undo it{why}": "{who} begann, es rückgängig zu machen{why}",
  "the undo ended: {what}": "das Rückgängigmachen endete: {what}",
  "the state after it was read: {what}": "der Zustand danach wurde gelesen: {what}",
  "{who} looked at the difference{why}": "{who} hat den Unterschied angesehen{why}",
  "people must look at it: {what}": "jemand muss es ansehen: {what}",
  "{who} took the escalation{why}": "{who} hat die Eskalation übernommen{why}",
  "{who} gave the escalation back{why}": "{who} hat die Eskalation abgegeben{why}",
  "{who} settled the escalation{why}": "{who} hat die Eskalation erledigt{why}",
  "no outcome": "kein Ergebnis",
  " after {ms} ms": " nach {ms} ms",
  " under policy revision {revision}": " nach Revision {revision} der Regeln",
  "passed 1 gate": "1 Prüfung bestanden",
  "passed {count} gates": "{count} Prüfungen bestanden",
  "its operation belongs to another call, or is running":
    "seine Operation gehört zu einem anderen Aufruf oder läuft noch",
  "the gate {gate} ended it, because {why}": "die Prüfung {gate} hat ihn beendet: {why}",
  "no gate was asked": "keine Prüfung wurde gefragt",
  "it refused": "sie hat abgelehnt",
  "there is no such tool in the version that the run uses":
    "es gibt kein solches Werkzeug in der Fassung, die der Lauf benutzt",
  "the call was not wanted any more": "der Aufruf war nicht mehr gewollt",
  "the policy does not allow the tool": "die Regeln erlauben das Werkzeug nicht",
  "a rule of the policy does not let this caller use the tool":
    "eine Regel lässt diesen Aufrufer das Werkzeug nicht benutzen",
  "the policy does not let this data go there": "die Regeln lassen diese Daten nicht dorthin",
  "the arguments are not one whole JSON object within the limits":
    "die Argumente sind kein ganzes JSON-Objekt innerhalb der Grenzen",
  "the arguments do not fit the schema of the contract":
    "die Argumente passen nicht zum Schema des Vertrags",
  "a semantic rule of the contract does not hold": "eine inhaltliche Regel des Vertrags gilt nicht",
  "the caller lacks a scope, a delegation or the one connection":
    "dem Aufrufer fehlt ein Recht, ein Auftrag oder die eine Verbindung",
  "an argument rule of the policy does not hold": "eine Regel für Argumente gilt nicht",
  "what the arguments come from breaks a rule of the policy":
    "woher die Argumente kommen, verstößt gegen eine Regel",
  "an amount is above a ceiling, or cannot be counted":
    "ein Betrag liegt über einer Grenze oder lässt sich nicht zählen",
  "the connection is not there, or its secret would be seen":
    "die Verbindung fehlt, oder ihr Geheimnis würde sichtbar",
  "the target is not as the call assumes": "das Ziel ist nicht so, wie der Aufruf annimmt",
  "the run repeats itself": "der Lauf wiederholt sich",
  "a hook of the deployment vetoed the call": "eine Prüfung des Deployments hat widersprochen",
  "the person did not answer what the contract asks":
    "die Person hat nicht beantwortet, was der Vertrag fragt",
  "the required people have not approved the call as it would run":
    "die nötigen Personen haben dem Aufruf, wie er laufen würde, nicht zugestimmt",
  "a rate, a budget or a cap has no room for the call":
    "eine Rate, ein Budget oder eine Grenze hat keinen Platz für den Aufruf",
  "the operation is bound to another payload or key":
    "die Operation ist an andere Argumente oder einen anderen Schlüssel gebunden",
  "the tool failed, or did not answer in time":
    "das Werkzeug versagte oder antwortete nicht rechtzeitig",
  "what the tool returned does not fit its contract":
    "was das Werkzeug lieferte, passt nicht zu seinem Vertrag",
  "it did what was asked": "er tat, was verlangt war",
  "a part of it happened and stays": "ein Teil davon geschah und bleibt",
  "its arguments could not be read": "seine Argumente ließen sich nicht lesen",
  "its arguments, or its name, do not fit the contract":
    "seine Argumente oder sein Name passen nicht zum Vertrag",
  "an argument has the wrong type": "ein Argument hat den falschen Typ",
  "an argument is outside its bounds": "ein Argument liegt außerhalb seiner Grenzen",
  "its arguments make no sense together": "seine Argumente passen nicht zusammen",
  "the caller, or a person who was asked, does not allow it":
    "der Aufrufer oder eine gefragte Person erlaubt es nicht",
  "the policy, or a check of the deployment, forbids it":
    "die Regeln oder eine Prüfung des Deployments verbieten es",
  "what it assumed did not hold any more": "was er annahm, galt nicht mehr",
  "the approval that it needs is missing": "die nötige Zustimmung fehlt",
  "a limit had no room for it": "eine Grenze hatte keinen Platz dafür",
  "there were too many calls in a short time": "es gab zu viele Aufrufe in kurzer Zeit",
  "the tool did not answer in time": "das Werkzeug antwortete nicht rechtzeitig",
  "the same operation was running already": "dieselbe Operation lief schon",
  "the same operation was asked for with other arguments":
    "dieselbe Operation wurde mit anderen Argumenten verlangt",
  "something that it needs could not be reached": "etwas, das er braucht, war nicht erreichbar",
  "the tool returned something that does not fit its contract":
    "das Werkzeug lieferte etwas, das nicht zu seinem Vertrag passt",
  "a part of it happened and has to be undone":
    "ein Teil davon geschah und muss rückgängig gemacht werden",
  "to undo it failed": "es ließ sich nicht rückgängig machen",
  "it failed in a way that nobody expected, or it was stopped":
    "er versagte auf eine Weise, die niemand erwartete, oder wurde beendet",
} as const;
