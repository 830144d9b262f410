/** The texts of approvals, and of the questions of tools. */
export const GERMAN_APPROVAL = {
  "The server sent an approval that this page cannot read. Reload the page.":
    "Der Server hat eine Anfrage gesendet, die diese Seite nicht lesen kann. Laden Sie die Seite neu.",
  approved: "hat zugestimmt",
  rejected: "hat abgelehnt",
  "; consented to {calls}": "; stimmte auch zu: {calls}",
  "1 more call": "1 weiterer Aufruf",
  "{calls} more calls": "{calls} weitere Aufrufe",
  Answered: "Beantwortet",
  Replaced: "Ersetzt",
  Withdrawn: "Zurückgezogen",
  "Time is up.": "Die Zeit ist abgelaufen.",
  "Reason (required from compliance)": "Begründung (von der Compliance verlangt)",
  "Reason (optional)": "Begründung (freiwillig)",
  "Reason (required)": "Begründung (verlangt)",
  "Type {tool} to approve": "Tippen Sie {tool}, um zuzustimmen",
  Decline: "Nicht antworten",
  Reject: "Ablehnen",
  "Cancel request": "Anfrage zurückziehen",
  "Discard changes": "Änderungen verwerfen",
  "Edit arguments": "Argumente ändern",
  Approve: "Zustimmen",
  "Submit changed arguments": "Geänderte Argumente senden",
  "Your answer to:": "Ihre Antwort auf:",
  Raise: "Erhöhen",
  "Other arguments for:": "Andere Argumente für:",
  "This is not a JSON object. Correct the text.":
    "Das ist kein JSON-Objekt. Korrigieren Sie den Text.",
  Answer: "Antworten",
  "Answer and approve": "Antworten und zustimmen",
  "Raise the limit": "Grenze erhöhen",
  "Arguments as JSON. Hidden values stay as they are.":
    "Argumente als JSON. Verborgene Werte bleiben, wie sie sind.",
  "Read only": "Nur lesend",
  "Temporary change": "Vorübergehende Änderung",
  "Low risk": "Geringes Risiko",
  "Medium risk": "Mittleres Risiko",
  "High risk": "Hohes Risiko",
  Critical: "Kritisch",
  "Needs an answer from {name}.": "Braucht eine Antwort von {name}.",
  "{approvals} of {required} so far": "Bisher {approvals} von {required}",
  ". It approves no call": ". Das genehmigt keinen Aufruf",
  "Needs {what}": "Braucht {what}",
  given: "erteilt",
  waiting: "ausstehend",
  "Needs {all}. A person counts for one of them.":
    "Braucht {all}. Eine Person zählt nur für eine davon.",
  "; and ": "; und ",
  "1 approval": "1 Zustimmung",
  "{required} approvals": "{required} Zustimmungen",
  " from role {roles}": " aus der Rolle {roles}",
  " from {name}": " von {name}",
  ", but not from {name}": ", aber nicht von {name}",
  ", within the limit of role {roles}": ", innerhalb der Grenze der Rolle {roles}",
  ", but not from a person in {fields}": ", aber nicht von einer Person in {fields}",
  " or ": " oder ",
  "by the policy that the run began with": "nach der Regel, mit der der Lauf begann",
  "by the current policy": "nach der aktuellen Regel",
  nobody: "niemand",
  "The arguments were changed": "Die Argumente wurden geändert",
  "The rules for this call changed": "Die Regeln für diesen Aufruf haben sich geändert",
  "Asked again: the consent ended": "Erneut gefragt: Die Zustimmung ist abgelaufen",
  "What people were shown has changed": "Was angezeigt wurde, hat sich geändert",
  "Approved. The call passes every check again, and then runs once.":
    "Zugestimmt. Der Aufruf wird noch einmal geprüft und läuft dann einmal.",
  "Answered. The call passes every check again, with the answer.":
    "Beantwortet. Der Aufruf wird mit der Antwort noch einmal geprüft.",
  "Rejected. The tool does not run.": "Abgelehnt. Das Werkzeug läuft nicht.",
  "Nobody decided in time. The tool does not run.":
    "Niemand hat rechtzeitig entschieden. Das Werkzeug läuft nicht.",
  "{why}, so the call needs a new approval.":
    "{why}. Der Aufruf braucht daher eine neue Zustimmung.",
  "Closed by itself, because the call cannot succeed any more: {why}":
    "Von selbst geschlossen, weil der Aufruf nicht mehr gelingen kann: {why}",
  "The run no longer needs this call. The tool does not run.":
    "Dieser Aufruf wird nicht mehr gebraucht. Das Werkzeug läuft nicht.",
  "You requested this call, so another person must approve it.":
    "Sie haben diesen Aufruf veranlasst. Daher muss eine andere Person zustimmen.",
  "Only the person that this call acts for can decide this.":
    "Nur die Person, für die dieser Aufruf handelt, kann das entscheiden.",
  "You do not have a role that can decide this approval.":
    "Sie haben keine Rolle, die das entscheiden kann.",
  "This call names you, so another person must approve it.":
    "Dieser Aufruf nennt Sie. Daher muss eine andere Person zustimmen.",
  "This call moves more money than your roles may approve.":
    "Dieser Aufruf bewegt mehr Geld, als Ihre Rollen genehmigen dürfen.",
  "Enough people have approved for every rule that you count for.":
    "Für jede Regel, für die Sie zählen, haben genug Personen zugestimmt.",
  "Enter a reason.": "Geben Sie eine Begründung ein.",
  "Only a person can decide. Sign in as a person.":
    "Nur eine Person kann entscheiden. Melden Sie sich als Person an.",
  "This approval cannot be decided together with others. Open it to decide.":
    "Das lässt sich nicht mit anderem zusammen entscheiden. Öffnen Sie es dafür.",
  "Your token cannot decide approvals. It needs the scope approvals:decide.":
    "Ihr Token darf nicht entscheiden. Er braucht das Recht approvals:decide.",
  "You have approved this. You can still reject it until the decision is complete.":
    "Sie haben zugestimmt. Bis zur Entscheidung können Sie noch ablehnen.",
  "You cannot decide this approval{detail}.": "Sie können das nicht entscheiden{detail}.",
  "{seconds} seconds left": "noch {seconds} Sekunden",
  "{minutes} minutes left": "noch {minutes} Minuten",
  "{hours} hours left": "noch {hours} Stunden",
  "{days} days left": "noch {days} Tage",
  "in this conversation": "in dieser Unterhaltung",
  "in all my conversations with this assistant":
    "in allen meinen Unterhaltungen mit diesem Assistenten",
  "this call alone": "nur diesen Aufruf",
  "A call like it is a call of the same tool {same}.":
    "Ein gleichartiger Aufruf ist ein Aufruf desselben Werkzeugs {same}.",
  "This approval counts for": "Diese Zustimmung gilt für",
  "one more call": "einen weiteren",
  "it and {calls} like it {within}, until {until}":
    "ihn und {calls} gleichartige {within}, bis {until}",
  "with the same arguments": "mit denselben Argumenten",
  "with any arguments": "mit beliebigen Argumenten",
  "with the same {fields}; other arguments may differ":
    "mit gleichem {fields}; andere Argumente dürfen abweichen",
  "Invisible or misleading characters are shown as code points":
    "Unsichtbare oder irreführende Zeichen stehen als Codepunkte da",
  "A letter has more marks than any language uses":
    "Ein Buchstabe hat mehr Zeichen über sich, als eine Sprache benutzt",
  "Letters have an unusual form that looks like other letters":
    "Buchstaben haben eine ungewöhnliche Form, die anderen gleicht",
  "A word mixes letters of several alphabets": "Ein Wort mischt Buchstaben mehrerer Alphabete",
  "A web address has letters other than a to z":
    "Eine Webadresse hat andere Buchstaben als a bis z",
  "Part of this text reads from right to left":
    "Ein Teil dieses Textes wird von rechts nach links gelesen",
  "This text may not be what it looks like": "Dieser Text ist vielleicht nicht, was er scheint",
  "Asked again, because the rules changed": "Erneut gefragt, weil sich die Regeln geändert haben",
  "Asked again, because this has changed": "Erneut gefragt, weil sich dies geändert hat",
  "Changed. Before:": "Geändert. Vorher:",
  "New: there was no value before.": "Neu: Vorher gab es keinen Wert.",
  Arguments: "Argumente",
  Before: "Vorher",
  After: "Nachher",
  "More details": "Weitere Einzelheiten",
  " ({count} characters)": " ({count} Zeichen)",
  "The arguments were changed. Review the new arguments.":
    "Die Argumente wurden geändert. Prüfen Sie die neuen Argumente.",
  "The answer stands in the arguments.": "Die Antwort steht in den Argumenten.",
  "The rules for this call changed. Earlier votes do not count. Review what changed.":
    "Die Regeln für diesen Aufruf haben sich geändert. Frühere Stimmen zählen nicht. Prüfen Sie, was sich geändert hat.",
  "What you were shown has changed since. Earlier votes do not count. Review what changed.":
    "Was Ihnen gezeigt wurde, hat sich seither geändert. Frühere Stimmen zählen nicht. Prüfen Sie, was sich geändert hat.",
} as const;
