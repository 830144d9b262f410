/** What the codes mean with which the runtime ends a call. */
export const GERMAN_REASONS = {
  "it would exceed what is left of a budget of the run or of the tenant":
    "er würde überschreiten, was von einem Budget des Laufs oder des Mandanten übrig ist",
  "the model made the same call again and again":
    "das Modell verlangte denselben Aufruf immer wieder",
  "a step of the saga could not be undone":
    "ein Schritt der Saga ließ sich nicht rückgängig machen",
  "a step of the saga stays as it is": "ein Schritt der Saga bleibt, wie er ist",
  "a step of the saga failed": "ein Schritt der Saga schlug fehl",
  "the budgets of the tenant could not be asked":
    "die Budgets des Mandanten ließen sich nicht abfragen",
  "the result is not what a service may answer": "das Ergebnis ist keine erlaubte Antwort",
  "the result is too large": "das Ergebnis ist zu groß",
  "the arguments are nested too deep": "die Argumente sind zu tief verschachtelt",
  "the arguments are too large": "die Argumente sind zu groß",
  "policy wants an argument to come from somewhere else":
    "die Regeln verlangen eine andere Herkunft für ein Argument",
  "an argument breaks a rule of the policy": "ein Argument verstößt gegen eine Regel",
  "policy wants another tool to succeed first":
    "nach den Regeln muss erst ein anderes Werkzeug gelingen",
  "the call counts money in another currency than the policy":
    "der Aufruf rechnet in einer anderen Währung als die Regeln",
  "a field was sent that people may not see":
    "es wurde ein Feld gesendet, das man nicht sehen darf",
  "the saga failed, and what it had made was undone":
    "die Saga schlug fehl, und was sie getan hatte, wurde rückgängig gemacht",
  "this run may ask people about no further call; go on without their approval":
    "dieser Lauf darf zu keinem weiteren Aufruf Personen fragen",
  "policy caps what calls of this tool cost, and this call would exceed what is left":
    "die Regeln begrenzen die Kosten dieses Werkzeugs, und der Aufruf würde den Rest überschreiten",
  "this call would exceed a limit of the run, and people did not raise it; go on without it":
    "der Aufruf würde eine Grenze des Laufs überschreiten, und niemand hat sie erhöht",
  "too many calls of this run wait for people; ask again when people have decided":
    "zu viele Aufrufe dieses Laufs warten auf Personen",
  "too many calls of this person wait for people; ask again when people have decided":
    "zu viele Aufrufe dieser Person warten auf Personen",
  "too many calls wait for people; ask again when people have decided":
    "zu viele Aufrufe warten auf Personen",
  "this tool is not available any more in this run; go on without it":
    "dieses Werkzeug gibt es in diesem Lauf nicht mehr",
  "nobody approved this call in time": "niemand hat dem Aufruf rechtzeitig zugestimmt",
  "the approval is not valid for this call": "die Zustimmung gilt nicht für diesen Aufruf",
  "the approval was used before": "die Zustimmung war schon verbraucht",
  "the approval request for this call is closed": "die Anfrage zu diesem Aufruf ist geschlossen",
  "the amount of money that this call moves cannot be read, so the call was not made":
    "der Betrag, den der Aufruf bewegt, ließ sich nicht lesen; er wurde nicht ausgeführt",
  "open approvals cannot be counted; try again later":
    "offene Anfragen ließen sich nicht zählen; versuchen Sie es später",
  "the run was interrupted while the tool ran":
    "der Lauf wurde unterbrochen, während das Werkzeug lief",
  "no attempt so far told whether this happened":
    "kein Versuch hat bisher gemeldet, ob es geschehen ist",
  "the policy of this call cannot be read; try again later":
    "die Regeln für diesen Aufruf ließen sich nicht lesen",
  "the tools cannot be read; try again later": "die Werkzeuge ließen sich nicht lesen",
  "the connection cannot be read": "die Verbindung ließ sich nicht lesen",
  "the workspace cannot be opened; nothing was changed":
    "der Arbeitsbereich ließ sich nicht öffnen; nichts wurde geändert",
  "the same operation is running; its result will come":
    "dieselbe Operation läuft; ihr Ergebnis kommt noch",
  "the tool ran, but its output does not fit its contract":
    "das Werkzeug lief, aber sein Ergebnis passt nicht zu seinem Vertrag",
  "the arguments of the operation are too long": "die Argumente der Operation sind zu lang",
  "expected an amount of money, not negative and no larger than can be counted":
    "erwartet war ein Geldbetrag, nicht negativ und nicht größer als zählbar",
  "the arguments hold a number that is too large": "die Argumente enthalten eine zu große Zahl",
  "a person rejected exactly this call before; it is not requested again":
    "eine Person hat genau diesen Aufruf schon abgelehnt; es wird nicht noch einmal gefragt",
  "policy does not let this caller use this tool":
    "die Regeln lassen diesen Aufrufer das Werkzeug nicht benutzen",
  "more than one connection is granted and requested for this tool":
    "für dieses Werkzeug ist mehr als eine Verbindung erlaubt und verlangt",
  "this call has a question to a person, and the run acts for nobody who could answer":
    "der Aufruf fragt eine Person, und der Lauf handelt für niemanden, der antworten könnte",
  "nobody may approve this call with these arguments, so nobody was asked":
    "niemand darf diesem Aufruf mit diesen Argumenten zustimmen; niemand wurde gefragt",
  "no connection is both granted and requested for this tool":
    "für dieses Werkzeug ist keine Verbindung zugleich erlaubt und verlangt",
  "the caller may not do this on behalf of that person":
    "der Aufrufer darf das nicht im Namen dieser Person tun",
  "the caller lacks the permission for this tool":
    "dem Aufrufer fehlt das Recht für dieses Werkzeug",
  "the caller is a member of no such workspace, or has to name one":
    "der Aufrufer gehört zu keinem solchen Arbeitsbereich oder muss einen nennen",
  "this call moves more money than the caller may ask for":
    "der Aufruf bewegt mehr Geld, als der Aufrufer verlangen darf",
  "the connection does not exist": "die Verbindung gibt es nicht",
  "policy refuses this call after text that others may have written; go on without it":
    "die Regeln lehnen den Aufruf nach Text ab, den andere geschrieben haben können",
  "policy does not let this data go to this model, assistant, person or service":
    "die Regeln lassen diese Daten nicht zu diesem Modell, Assistenten, Menschen oder Dienst",
  "a check of this deployment failed": "eine Prüfung dieses Deployments schlug fehl",
  "there is no policy that allows this call": "keine Regel erlaubt diesen Aufruf",
  "policy does not allow this tool": "die Regeln erlauben dieses Werkzeug nicht",
  "a call that may only read named an operation that writes":
    "ein Aufruf, der nur lesen darf, nannte eine Operation, die schreibt",
  "this version of the tool does not exist any more":
    "diese Fassung des Werkzeugs gibt es nicht mehr",
  "this request asks a question; send its answer":
    "diese Anfrage stellt eine Frage; beantworten Sie sie",
  "this request asks no question; approve or reject it":
    "diese Anfrage stellt keine Frage; stimmen Sie zu oder lehnen Sie ab",
  "this request is about a limit of the run; grant or reject it without arguments":
    "diese Anfrage gilt einer Grenze des Laufs; sie nimmt keine Argumente",
  "these arguments undo another call; approve the call as it is, or reject it":
    "diese Argumente machen einen anderen Aufruf rückgängig und lassen sich nicht ändern",
  "the same operation was asked for before with other arguments":
    "dieselbe Operation wurde schon mit anderen Argumenten verlangt",
  "the call has begun with these arguments; approve it as it is, or reject it":
    "der Aufruf hat mit diesen Argumenten begonnen und lässt sich nicht ändern",
  "what people see of this call changes each time before it can begin; do not ask again":
    "was man von diesem Aufruf sieht, ändert sich jedes Mal, bevor er beginnt",
  "the service no longer recognises a repetition of this call":
    "der Dienst erkennt eine Wiederholung dieses Aufrufs nicht mehr",
  "a check of this deployment ended the run before this call began, so it was not made":
    "eine Prüfung dieses Deployments beendete den Lauf, bevor der Aufruf begann",
  "the user sent a message before this call began, so it was not made; ask again if needed":
    "eine Nachricht kam, bevor der Aufruf begann; er wurde nicht ausgeführt",
  "the connection or the address of the service changed after an attempt of this call":
    "die Verbindung oder die Adresse des Dienstes änderte sich nach einem Versuch",
  "no field may be named __proto__": "kein Feld darf __proto__ heißen",
  "the workspace has no such operation": "der Arbeitsbereich hat keine solche Operation",
  "there is no such tool": "es gibt kein solches Werkzeug",
  "the arguments must be one JSON object": "die Argumente müssen ein JSON-Objekt sein",
  "the arguments are not valid JSON": "die Argumente sind kein gültiges JSON",
  "the arguments hold half a character": "die Argumente enthalten ein halbes Zeichen",
  "the arguments were cut off before they were complete":
    "die Argumente brachen ab, bevor sie vollständig waren",
  "the call reached the workspace after its deadline; nothing was changed":
    "der Aufruf kam nach seiner Frist im Arbeitsbereich an; nichts wurde geändert",
  "the run was stopped before the tool answered":
    "der Lauf wurde beendet, bevor das Werkzeug antwortete",
  "the arguments of this step could not be made":
    "die Argumente dieses Schritts ließen sich nicht bilden",
  "the operation failed; nothing was changed": "die Operation schlug fehl; nichts wurde geändert",
  "no operator said in time whether this happened; look before you ask for it again":
    "niemand hat rechtzeitig gemeldet, ob es geschehen ist",
  "the tool failed": "das Werkzeug schlug fehl",
  "this did not happen": "es ist nicht geschehen",
  "this mistake was not corrected; the tool is not available any more in this run":
    "der Fehler wurde nicht berichtigt; das Werkzeug gibt es in diesem Lauf nicht mehr",
} as const;
