import { fromPointer } from "../../protocol/json/pointer.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { isShownBy, schemaAt } from "../../protocol/tool/schema-path.ts";
import type { ToolSpec } from "../../protocol/tool/spec.ts";
import type { PolicyMismatch } from "./mismatch.ts";

/**
 * Finds the tools and fields that the data-flow rules of a policy name and no registered tool has,
 * and the fields of results that redaction withholds: no value of theirs is ever shown.
 * Contract: pure; messages repeat nothing from the policy.
 */
export function matchDataFlow(
  { dataFlow }: Pick<ToolPolicy, "dataFlow">,
  known: ReadonlyMap<string, readonly ToolSpec[]>,
): readonly PolicyMismatch[] {
  const { afterUntrusted, arguments: origins, order } = dataFlow;
  const matchTool = (id: string, pointer: string): readonly PolicyMismatch[] =>
    known.has(id) ? [] : [{ pointer: `/dataFlow/${pointer}`, message: "no such tool" }];
  const has = (id: string, test: (spec: ToolSpec) => boolean): boolean =>
    known.get(id)?.some(test) ?? true;
  return [
    ...afterUntrusted.flatMap(({ tools = [] }, index) =>
      tools.flatMap((id, at) => matchTool(id, `afterUntrusted/${index}/tools/${at}`)),
    ),
    ...origins.flatMap(({ tool, field, must: { beFromResult: from } }, index) => {
      const pointer = `arguments/${index}`;
      const path = fromPointer(field);
      const hasField = has(tool, ({ inputSchema }) => schemaAt(inputSchema, path) !== undefined);
      const isShown =
        !from ||
        has(from.tool, ({ redaction }) => {
          const named = fromPointer(from.field).join(".");
          return redaction.output.some((shown) => isShownBy(named, shown));
        });
      const at = `/dataFlow/${pointer}`;
      const message = "the tool shows no such field of its output";
      return [
        matchTool(tool, `${pointer}/tool`),
        hasField ? [] : [{ pointer: `${at}/field`, message: "no such field" }],
        from ? matchTool(from.tool, `${pointer}/must/beFromResult/tool`) : [],
        isShown ? [] : [{ pointer: `${at}/must/beFromResult/field`, message }],
      ].flat();
    }),
    ...order.flatMap(({ tool, after }, index) =>
      [
        matchTool(tool, `order/${index}/tool`),
        matchTool(after.tool, `order/${index}/after/tool`),
      ].flat(),
    ),
  ];
}
