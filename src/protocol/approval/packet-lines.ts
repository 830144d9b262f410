import type { ConfirmationPacket } from "./packet.ts";
import type { JsonObject, JsonValue } from "../json/value.ts";
import { leavesOf } from "../json/pointer.ts";
import type { SideEffectClass } from "../tool/effect.ts";
import { joinNotes, type VisibleNote } from "../text/visible-note.ts";
import { toVisible } from "../text/visible.ts";

/** The packet field that a line shows. */
export type PacketField = keyof ConfirmationPacket | "withheld";

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
  /** Notes on label and text; empty when there are none. */
  readonly notes: readonly VisibleNote[];
}

/**
 * Writes a packet as lines, in the order of seeds/004, "Confirmation Gates".
 * Contract: pure; it cuts nothing. An object with too many values becomes one line of JSON.
 */
export function formatPacketLines(packet: ConfirmationPacket): readonly PacketLine[] {
  const { actionName, compensation } = packet;
  const { withheld, shown } = packet.arguments;
  return [
    line("actionName", "Action", actionName.title),
    line("actionName", "Tool", `${actionName.tool}, version ${actionName.version}`),
    line("consequence", "Consequence", packet.consequence),
    ...linesOfObject("arguments", shown),
    ...withheld.map(lineOfWithheld),
    ...linesOfState("beforeState", packet.beforeState),
    ...linesOfState("afterState", packet.afterState),
    line("riskClass", "Risk", `${packet.riskClass}: ${RISKS[packet.riskClass]}`),
    line("compensation", "Way back", compensation.note),
    line("expiresAt", "Expires", packet.expiresAt),
    line("rejectionPath", "If rejected", packet.rejectionPath),
    line("idempotencyFingerprint", "Fingerprint", packet.idempotencyFingerprint),
    line("traceId", "Trace", packet.traceId),
  ];
}

const RISKS: { readonly [Class in SideEffectClass]: string } = {
  READ_ONLY: "it changes nothing",
  EPHEMERAL_WRITE: "it changes something that does not last",
  LOW_RISK_INTERNAL: "it changes something small within the organisation",
  MEDIUM_RISK_WRITE: "it changes something that others work with",
  HIGH_RISK_EXTERNAL: "it reaches people or systems outside",
  CRITICAL_MUTATION: "it moves money, access or data that is hard to bring back",
};

function line(field: PacketField, label: string, text: string): PacketLine {
  const [seenLabel, seenText] = [toVisible(label), toVisible(text)];
  const notes = joinNotes(seenLabel.notes, seenText.notes);
  return { field, label: seenLabel.text, text: seenText.text, notes };
}

function lineOfWithheld(pointer: string): PacketLine {
  return { ...line("withheld", pointer, "not shown, as its contract says"), pointer };
}

function linesOfState(
  field: "beforeState" | "afterState",
  state: JsonObject | null,
): readonly PacketLine[] {
  return state ? linesOfObject(field, state) : [line(field, STATES[field], "not known")];
}

const STATES = { beforeState: "Before", afterState: "After", arguments: "Arguments" };

/** Most values of one object that get their own lines, and most characters of a pointer. */
const MAX_LEAVES = 200;
const MAX_POINTER_CHARS = 1_024;

function linesOfObject(field: keyof typeof STATES, object: JsonObject): readonly PacketLine[] {
  const lines: PacketLine[] = [];
  for (const { pointer, value } of leavesOf(object)) {
    const isTooMuch = lines.length >= MAX_LEAVES || pointer.length > MAX_POINTER_CHARS;
    if (isTooMuch || pointer === "") return [line(field, STATES[field], JSON.stringify(object))];
    lines.push({ ...line(field, pointer, formatLeaf(value)), pointer });
  }
  return lines;
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
