import * as v from "valibot";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { classifyIssues } from "../../src/contracts/bind/classify-issues.ts";
import type { ConfirmationPacket } from "../../src/protocol/approval/packet.ts";
import {
  formatPacketLines,
  RISKS,
  TERMS,
  type PacketLine,
} from "../../src/protocol/approval/packet-lines.ts";
import { textsOfQuestion } from "../../src/protocol/approval/question-lines.ts";
import { describeRaise, LIMITED } from "../../src/protocol/approval/raise-lines.ts";
import type { BudgetRaise } from "../../src/protocol/budget/raise.ts";
import { describeSources } from "../../src/protocol/label/source.ts";
import { SEMANTICS } from "../../src/protocol/tool/contract-document.ts";
import { describeCompensation } from "../../src/runner/approval/describe-compensation.ts";
import { fillText } from "../../src/protocol/text/fill-text.ts";
import { PLACES, sayHint, sayLine, sayText } from "../../src/widget/approval/packet-words.ts";
import { GERMAN } from "../../src/widget/texts/german.ts";
import { sayError } from "../../src/widget/texts/say-error.ts";
import { sayKnown } from "../../src/widget/texts/say-known.ts";
import { setLanguage } from "../../src/widget/texts/say.ts";
import { PACKET } from "../shared/packets.ts";

const NONE = { locale: undefined, table: {} };

beforeEach(() => setLanguage({ locale: "de", table: GERMAN }));
afterEach(() => setLanguage(NONE));

const RAISE: BudgetRaise = {
  budget: "writes",
  source: "policy",
  limit: 5,
  used: 5,
  needs: 1,
  to: null,
  currency: "USD",
};

/** A packet in which the server words as much as it can. */
const WORDED: ConfirmationPacket = {
  ...PACKET,
  consequence: "It changes data with these arguments. Its contract does not say more.",
  question: {
    text: "Which day?",
    schema: {
      type: "object",
      properties: { count: { type: "integer", minimum: 1, maximum: 5 } },
      required: [],
    },
  },
  raise: RAISE,
  after: [{ kind: "tool", tool: "mail__read" }, { kind: "file" }],
  newHere: ["/to/name"],
  workspaceId: "studio",
  steps: [
    { tool: "pay__hold", version: "1.0.0", payload: null },
    {
      tool: "pay__move",
      version: "1.0.0",
      payload: {
        title: "Move it",
        arguments: { shown: { amount: 4 }, withheld: ["/iban"] },
        fingerprint: "f",
      },
    },
  ],
  beforeState: null,
  drifting: [{ field: "balance", reason: "Interest comes daily." }],
  jurisdiction: [{ service: "bank.example", regions: [] }],
  rejectionPath:
    "The tool does not run. A model that asked for it is told, and may go on without it.",
};
const CHANGES = {
  changedTerms: [
    { term: "required", before: 1, after: 2 },
    { term: "2/roles", before: ["clerk"], after: null },
  ],
  changedShown: [
    { pointer: "/arguments/shown/amount", before: 40 },
    { pointer: "/afterState/balance", after: 7 },
  ],
};

/** Lines whose text somebody else wrote, or that is the same in each language. */
const AS_WRITTEN = new Set<string>([
  "actionName",
  "arguments",
  "dataClass",
  "drifting",
  "idempotencyFingerprint",
  "newHere",
  "owner",
  "question",
  "traceId",
  "workspaceId",
]);

/** Fields that hold what somebody wrote, with the name of the tool. */
const WRITTEN = new Set(["actionName", "consequence", "owner", "arguments", "drifting", "newHere"]);

const said = (lines: readonly PacketLine[], label: string): string | undefined =>
  lines.map(sayLine).find((line) => line.label === label)?.text;

describe("a packet in German", () => {
  test("has each label and text of the server in German", () => {
    const lines = formatPacketLines(WORDED, CHANGES);
    const english = lines.flatMap((line) => {
      const { label, text } = sayLine(line);
      const isLabel = line.pointer === undefined || line.field === "changedShown";
      const isText = line.pointer === undefined && !AS_WRITTEN.has(line.field);
      return [
        ...(isLabel && label === line.label ? [label] : []),
        ...(isText && text === line.text ? [text] : []),
      ];
    });
    expect(english).toEqual([]);
    expect(said(lines, "Geändert: Zahl der Zustimmenden")).toBe("war 1, ist jetzt 2");
    expect(said(lines, "Geändert: Argumente › Amount")).toBe("war 40, ist jetzt nicht vorhanden");
    expect(said(lines, "Erhöhen")).toBe(
      "die Grenze dieses Laufs für Aufrufe, die innerhalb des Deployments schreiben, von 5 auf keine Grenze; bisher 5 verbraucht, dieser Aufruf braucht 1",
    );
    expect(said(lines, "Nach dem Lesen von")).toBe("die Ausgabe von mail__read, eine Datei");
    expect(said(lines, "Schritt 2")).toBe(
      'pay__move, Version 1.0.0: Move it; {"amount":4}; nicht gezeigt: /iban',
    );
    expect(said(lines, "Werkzeug")).toBe("pay__refund, Version 2.1.0");
  });

  test("leaves what an author, a model or a person wrote, also where it looks like the server's words", () => {
    const packet: ConfirmationPacket = {
      ...PACKET,
      actionName: { title: "Tool", tool: "pay__refund", version: "1.0.0" },
      consequence: "Ann, version 2, can undo it.",
      owner: "none",
      arguments: { shown: { tool: "none", before: "not known" }, withheld: [] },
      newHere: ["/tool"],
      drifting: [{ field: "none", reason: "It cannot be undone." }],
      question: { text: "optional", schema: { type: "object", properties: {} } },
    };
    const lines = formatPacketLines(packet).filter(({ field }) => WRITTEN.has(field));
    const written = lines.filter(({ text }) => text !== "pay__refund, version 1.0.0");
    for (const line of written) expect(sayText(line)).toBe(line.text);
    const values = lines.filter(({ pointer }) => pointer !== undefined);
    expect(values.map((line) => sayLine(line).label)).toEqual(["Tool", "Before"]);
    expect(sayText({ field: "question", label: "Question", text: "optional", notes: [] })).toBe(
      "optional",
    );
  });

  test("changes no value in which the words between two values stand", () => {
    const payload = {
      title: "Move it",
      arguments: { shown: { note: "x; not shown: /iban" }, withheld: [] },
      fingerprint: "f",
    };
    const packet: ConfirmationPacket = {
      ...PACKET,
      steps: [{ tool: "pay__move", version: "1.0.0", payload }],
      drifting: [{ field: "pattern", reason: "It moves." }],
      actionName: {
        title: "Pay",
        tool: "pay__refund",
        toolTitle: "Pay, version 9",
        version: "1.0.0",
      },
    };
    const before = "10, is now 10";
    const changedShown = [{ pointer: "/arguments/shown/amount", before, after: "9000" }];
    const lines = formatPacketLines(packet, { changedShown });
    const [change] = lines;
    expect(change && sayLine(change)).toMatchObject({
      label: "Geändert: Argumente › Amount",
      text: 'was "10, is now 10", is now "9000"',
    });
    expect(said(lines, "Schritt 1")).toContain('{"note":"x; not shown: /iban"}');
    expect(said(lines, "Werkzeug")).toBe("Pay, version 9 (pay__refund), version 1.0.0");
    expect(said(lines, "Kann sich ändern: pattern")).toBe("It moves.");
  });

  test("gives different places different labels", () => {
    const english = PLACES.texts.flatMap((place) =>
      ["Title", "Titel", "Version", "Verborgen › 1", "Argumente › Version"].map((field) =>
        fillText(place, { step: "1", field }),
      ),
    );
    const different = new Set(english);
    const german = [...different].map((label) => sayKnown(label, PLACES));
    expect(german.filter((label, at) => german.indexOf(label) !== at)).toEqual([]);
  });

  test("has each risk, term, limit and way back in German", () => {
    const riskOf = (riskClass: keyof typeof RISKS) =>
      said(formatPacketLines({ ...PACKET, riskClass }), "Risiko");
    for (const risk of Object.keys(RISKS) as (keyof typeof RISKS)[]) {
      expect(riskOf(risk)).not.toContain(RISKS[risk]);
    }
    for (const [term, words] of Object.entries(TERMS)) {
      const [line] = formatPacketLines(PACKET, { changedTerms: [{ term, before: 1, after: 2 }] });
      expect([term, line && sayLine(line).label]).not.toEqual([term, `Geändert: ${words}`]);
    }
    for (const budget of Object.keys(LIMITED) as (keyof typeof LIMITED)[]) {
      for (const source of ["person", "policy"] as const) {
        const text = describeRaise({ ...RAISE, budget, source });
        expect(sayText({ field: "raise", label: "Raise", text, notes: [] })).not.toMatch(
          /calls|money|tokens|limit/,
        );
      }
    }
    for (const semantics of SEMANTICS) {
      for (const tool of [null, "pay__return"]) {
        const ports = { tools: { list: () => [] }, versions: new Map(), policy: {} } as never;
        const { note: text } = describeCompensation(ports, { semantics, tool });
        const line = { field: "compensation", label: "Way back", text, notes: [] } as const;
        expect(sayText(line)).not.toMatch(/\b(?:It|undo|undone|step)\b/);
      }
    }
    const text = "pay__return can undo it. Doing it again changes nothing more.";
    expect(sayText({ field: "compensation", label: "Way back", text, notes: [] })).toBe(
      "pay__return kann es rückgängig machen. Es noch einmal zu tun, ändert nichts mehr.",
    );
  });

  test("words what a field of a question takes, and what a model had read", () => {
    const schema = {
      type: "object",
      properties: {
        note: { type: "string", description: "Why; in a few words", maxLength: 80 },
        days: { type: "integer", minimum: 1, maximum: 5 },
        share: { type: "number", maximum: 1 },
        any: { type: "string" },
      },
      required: ["note"],
    };
    const hints = textsOfQuestion({ text: "?", schema }).slice(1);
    expect(hints.map(({ text }) => sayHint(text))).toEqual([
      "Why; in a few words; ein Text von bis zu 80 Zeichen",
      "eine ganze Zahl von 1 bis 5; freiwillig",
      "eine Zahl bis 1; freiwillig",
      "ein Text; freiwillig",
    ]);
    const kinds = ["context", "file", "history", "more", "something else"];
    const text = describeSources(kinds.map((kind) => ({ kind })));
    expect(sayText({ field: "after", label: "After reading", text, notes: [] })).toBe(
      "Kontext der Seite, eine Datei, ein Verlauf, den ein Client schickte, frühere Quellen, anderer Text",
    );
  });
});

test("what is wrong with a call is said in German, and the words of an author stay", () => {
  const schema = v.strictObject({
    count: v.pipe(v.number(), v.minValue(3)),
    name: v.pipe(v.string(), v.nonEmpty()),
    seat: v.pipe(
      v.string(),
      v.check(() => false, "no seat is free"),
    ),
    kind: v.picklist(["a", "b"]),
    day: v.string(),
  });
  const sent = { count: 1, name: "", seat: "1A", kind: 7, other: true };
  const { issues = [] } = v.safeParse(schema, sent);
  expect(classifyIssues(issues).errors.map(({ message }) => sayError(message))).toEqual([
    "erwartet wird mindestens 3, nicht eine Zahl",
    "erwartet wird etwas, das nicht leer ist, nicht ein Text von 0 Zeichen",
    "no seat is free",
    'erwartet wird ("a" | "b"), nicht eine Zahl',
    "das Feld fehlt",
    "unbekannte Felder werden nicht angenommen",
  ]);
  expect(sayError("nobody approved this call in time")).toBe(
    "niemand hat dem Aufruf rechtzeitig zugestimmt",
  );
});

test("a packet in English is as the server words it, but for its time", () => {
  setLanguage(NONE);
  const lines = formatPacketLines(WORDED, CHANGES).filter(({ field }) => field !== "expiresAt");
  expect(lines.map(sayLine)).toEqual(lines);
});
