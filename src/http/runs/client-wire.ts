import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { findWire, type ClientWire, type ClientWires } from "../../protocol/run/client-wire.ts";
import { problem } from "../request/problem.ts";

/**
 * Reads the wire that a reader names in the query parameter `wire`; the default wire without it.
 * Fails: 400 for a name that is not registered, and for two names.
 */
export function readWire(request: Request, wires: ClientWires): Result<ClientWire, Response> {
  const [name = null, ...others] = new URL(request.url).searchParams.getAll("wire");
  const wire = others.length === 0 ? findWire(wires, name) : undefined;
  return wire ? ok(wire) : fail(refuseWire(wires));
}

/** Answers a reader whose wire is unknown here, or unknown to the run's object during a deploy. */
export function refuseWire(wires: ClientWires): Response {
  const names = [...new Set(wires.map(({ name }) => name))].join(", ");
  return problem("wire_unknown", { detail: `Name one of these in \`wire\`: ${names}.` });
}
