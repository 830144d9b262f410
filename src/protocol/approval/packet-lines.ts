import type { ConfirmationPacket, DriftingField, PacketStep } from "./packet.ts";
import type { Reached } from "../policy/jurisdiction.ts";
import { labelFields } from "./label-fields.ts";
import type { JsonObject, JsonValue } from "../json/value.ts";
import { leavesOf, valuesAt } from "../json/pointer.ts";
import { describeRaise } from "./raise-lines.ts";
import { textsOfQuestion } from "./question-lines.ts";
import type { ShownChange } from "./shown.ts";
import type { TermChange } from "./terms.ts";
import type { SideEffectClass } from "../tool/effect.ts";
import { describeSources } from "../label/source.ts";
import { joinNotes, type VisibleNote } from "../text/visible-note.ts";
import { toVisible } from "../text/visible.ts";

/** The packet field that a line shows. */
export type PacketField = keyof ConfirmationPacket | "withheld" | "changedTerms" | "changedShown";

/**
 * One line that approvers read before they vote. Label and text are safe to show; see toVisible. A
 * stranger may have written both, so `field` tells what the line really is.
 */
export interface PacketLine {
  readonly field: PacketField;
  readonly label: string;
  /** JSON pointer to the value within its field, unchanged. Do not show it to people. */
  readonly pointer?: string;
  readonly text: string;
  /**
   * What people were shown here before, where it has changed; safe to show, too. Null: there was no
   * such value.
   */
  readonly was?: string | null;
  /** Notes on all texts; empty when there are none. */
  readonly notes: readonly VisibleNote[];
}

/** How an approval differs from the one before it. */
export interface ApprovalChanges {
  readonly changedTerms?: readonly TermChange[];
  readonly changedShown?: readonly ShownChange[];
  readonly changedByEdit?: readonly ShownChange[];
}

/**
 * Writes a packet as lines, in the order of seeds/004, "Confirmation Gates". Changes come first:
 * they say why the approval is requested again. A value that changed says what it was, too.
 * Contract: pure; it cuts nothing. An object with too many values becomes one line of JSON.
 */
export function formatPacketLines(
  packet: ConfirmationPacket,
  { changedTerms = [], changedShown = [], changedByEdit = [] }: ApprovalChanges = {},
): readonly PacketLine[] {
  const { actionName, compensation, workspaceId, newHere = [] } = packet;
  const changes = [...changedShown, ...changedByEdit];
  const lines = [
    ...changedTerms.map(lineOfTerm),
    ...linesOfShown(packet, changes),
    ...linesOfQuestion(packet),
    ...(packet.raise ? [line("raise", "Raise", describeRaise(packet.raise))] : []),
    line("actionName", "Action", actionName.title),
    line("actionName", "Tool", formatTool(actionName)),
    ...(workspaceId === undefined ? [] : [line("workspaceId", "Workspace", workspaceId)]),
    line("consequence", "Consequence", packet.consequence),
    ...(packet.after ? [line("after", "After reading", describeSources(packet.after))] : []),
    ...formatArguments(packet.arguments),
    ...linesOfNew(packet.arguments.shown, newHere),
    ...(packet.steps ?? []).map(lineOfStep),
    ...linesOfState("beforeState", packet),
    ...linesOfState("afterState", packet),
    ...(packet.drifting ?? []).map(lineOfDrift),
    line("riskClass", "Risk", `${packet.riskClass}: ${RISKS[packet.riskClass]}`),
    line("dataClass", "Data class", packet.dataClass),
    ...(packet.jurisdiction ?? []).map(lineOfReached),
    line("owner", "Owner of the tool", packet.owner),
    line("compensation", "Way back", compensation.note),
    line("expiresAt", "Expires", packet.expiresAt),
    line("rejectionPath", "If rejected", packet.rejectionPath),
    line("idempotencyFingerprint", "Fingerprint", packet.idempotencyFingerprint),
    line("traceId", "Trace", packet.traceId),
  ];
  return changes.length === 0 ? lines : markChanged(lines, changes);
}

/** Where the values of a field stand in the packet. */
const PLACES: { readonly [Field in PacketField]?: string } = {
  consequence: "/consequence",
  arguments: "/arguments/shown",
  beforeState: "/beforeState",
  afterState: "/afterState",
};

function markChanged(
  lines: readonly PacketLine[],
  changes: readonly ShownChange[],
): readonly PacketLine[] {
  const changed = new Map(changes.map((change) => [change.pointer, change]));
  return lines.map((one) => {
    const change = changed.get(`${PLACES[one.field] ?? ""}${one.pointer ?? ""}`);
    if (!change || one.field === "changedShown") return one;
    if (change.before === undefined) return { ...one, was: null };
    const { text: was, notes } = toVisible(formatLeaf(change.before));
    return { ...one, was, notes: joinNotes(one.notes, notes) };
  });
}

function linesOfQuestion({ question }: ConfirmationPacket): readonly PacketLine[] {
  const texts = question ? textsOfQuestion(question) : [];
  return texts.map(({ pointer, label, text }) =>
    Object.assign(line("question", label, text), pointer === undefined ? {} : { pointer }),
  );
}

function lineOfReached({ service, regions }: Reached): PacketLine {
  const where = regions.length === 0 ? "in no region of the policy" : `in ${regions.join(", ")}`;
  return line("jurisdiction", "Jurisdiction", `${service}: ${where}`);
}

function formatTool({ tool, toolTitle, version }: ConfirmationPacket["actionName"]): string {
  return `${toolTitle === undefined ? tool : `${toolTitle} (${tool})`}, version ${version}`;
}

/** What each class means, in words. */
export const RISKS: { readonly [Class in SideEffectClass]: string } = {
  READ_ONLY: "it changes nothing",
  EPHEMERAL_WRITE: "it changes something that does not last",
  LOW_RISK_INTERNAL: "it changes something small within the organisation",
  MEDIUM_RISK_WRITE: "it changes something that others work with",
  HIGH_RISK_EXTERNAL: "it reaches people or systems outside",
  CRITICAL_MUTATION: "it moves money, access or data that is hard to bring back",
};

/** Writes one step of a saga. */
function lineOfStep({ tool, version, payload }: PacketStep, index: number): PacketLine {
  const what = payload
    ? `${payload.title}; ${JSON.stringify(payload.arguments.shown)}${formatWithheld(payload)}`
    : "its arguments are not known yet";
  return line("steps", `Step ${index + 1}`, `${tool}, version ${version}: ${what}`);
}

function formatWithheld({ arguments: { withheld } }: NonNullable<PacketStep["payload"]>): string {
  return withheld.length === 0 ? "" : `; not shown: ${withheld.join(", ")}`;
}

function line(field: PacketField, label: string, text: string): PacketLine {
  const [seenLabel, seenText] = [toVisible(label), toVisible(text)];
  const notes = joinNotes(seenLabel.notes, seenText.notes);
  return { field, label: seenLabel.text, text: seenText.text, notes };
}

/**
 * Writes the arguments of a call as lines.
 * Threat: people take a call with withheld values for a call without values.
 */
export function formatArguments({
  shown,
  withheld,
}: ConfirmationPacket["arguments"]): readonly PacketLine[] {
  if (Object.keys(shown).length > 0) return linesOfObject("arguments", shown, withheld);
  if (withheld.length === 0) return [line("arguments", "Arguments", "none")];
  return linesOfRows(shown, withheld.map(toWithheldRow));
}

/** The names of terms in words. */
export const TERMS: Readonly<Record<string, string>> = {
  toolVersion: "version of the tool",
  pattern: "pattern",
  required: "number of approvers",
  roles: "roles of approvers",
  excludesRequester: "requester excluded",
  onlyRequester: "only the requester",
  needsReason: "reason needed",
  isBulk: "bulk decisions",
  lasting: "consent that lasts",
  ttlSeconds: "seconds to decide",
  withinLimit: "roles whose limit covers the amount",
  approverIsNot: "fields that must not name the approver",
  policy: "policy that asks",
  connectionId: "connection",
  runLimits: "limits of the run",
  tenantLimits: "limits of the tenant",
  rateLimit: "rate limit",
  callers: "who may call",
  data: "where its data may go",
  dataFlow: "reasons by the origin of the call",
  costCaps: "caps of its cost",
};

/** Threat: a stranger chose where a call goes, and it looks like any other place. */
function linesOfNew(shown: JsonObject, pointers: readonly string[]): readonly PacketLine[] {
  const labels = labelFields(shown, pointers);
  return pointers.map((pointer, at) => {
    const [{ value } = { value: "" }] = valuesAt(shown, pointer);
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return line("newHere", `New here: ${labels[at] ?? pointer}`, text);
  });
}

function lineOfTerm({ term, ...change }: TermChange): PacketLine {
  const [name = "", rule] = term.split("/").toReversed();
  const of = rule === undefined ? "" : `rule ${rule}, `;
  return line("changedTerms", `Changed: ${of}${TERMS[name] ?? name}`, formatChange(change));
}

function linesOfShown(
  packet: ConfirmationPacket,
  changes: readonly ShownChange[],
): readonly PacketLine[] {
  const pointers = changes.map(({ pointer }) => pointer);
  const labels = labelFields(packet, pointers);
  return changes.map(({ pointer, ...change }, at) => ({
    ...line("changedShown", `Changed: ${labels[at] ?? pointer}`, formatChange(change)),
    pointer,
  }));
}

function formatChange({ before, after }: Partial<Omit<TermChange, "term">>): string {
  const [was, now] = [before, after].map((value) =>
    value === undefined ? "absent" : JSON.stringify(value),
  );
  return `was ${was}, is now ${now}`;
}

/** Threat: people rely on a value that may be another one when the call runs. */
function lineOfDrift({ field, reason }: DriftingField): PacketLine {
  return line("drifting", `May change: ${field}`, reason);
}

/** A call that changes nothing has no unknown state. */
function linesOfState(
  field: "beforeState" | "afterState",
  packet: ConfirmationPacket,
): readonly PacketLine[] {
  const { [field]: state, riskClass } = packet;
  if (state) return linesOfObject(field, state);
  return riskClass === "READ_ONLY" ? [] : [line(field, STATES[field], "not known")];
}

const STATES = { beforeState: "Before", afterState: "After", arguments: "Arguments" };

/** Most values of one object that get their own lines, and most characters of a pointer. */
const MAX_LEAVES = 200;
const MAX_POINTER_CHARS = 1_024;

/** One value of an object, or the place of a withheld one. */
interface Row {
  readonly field: PacketField;
  readonly pointer: string;
  readonly text: string;
}

function linesOfObject(
  field: keyof typeof STATES,
  object: JsonObject,
  withheld: readonly string[] = [],
): readonly PacketLine[] {
  const rows: Row[] = [];
  const hidden = withheld.map(toWithheldRow);
  for (const { pointer, value } of leavesOf(object)) {
    const isTooMuch = rows.length >= MAX_LEAVES || pointer.length > MAX_POINTER_CHARS;
    if (isTooMuch || pointer === "") {
      return [line(field, STATES[field], JSON.stringify(object)), ...linesOfRows(object, hidden)];
    }
    rows.push({ field, pointer, text: formatLeaf(value) });
  }
  return linesOfRows(object, [...rows, ...hidden]);
}

function toWithheldRow(pointer: string): Row {
  const text = "withheld: the contract of the tool does not show this value";
  return { field: "withheld", pointer, text };
}

function linesOfRows(object: JsonObject, rows: readonly Row[]): readonly PacketLine[] {
  const pointers = rows.map(({ pointer }) => pointer);
  const labels = labelFields(object, pointers);
  return rows.map(({ field, pointer, text }, at) => ({
    ...line(field, labels[at] ?? pointer, text),
    pointer,
  }));
}

const MAY_BE_JSON = /^(?:["{[]|true$|false$|null$|-?\d[\d.eE+-]*$)/;

/**
 * Formats a value as JSON, but drops the quotes of a text that cannot be read as other JSON.
 * Contract: different values give different texts.
 */
function formatLeaf(value: JsonValue): string {
  if (typeof value !== "string") return JSON.stringify(value);
  return value === "" || MAY_BE_JSON.test(value) ? `"${value}"` : value;
}
