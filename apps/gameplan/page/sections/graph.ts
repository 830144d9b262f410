import type { JsonObject } from "../../../../src/protocol/json/value.ts";
import { fail, ok, type Result } from "../../../../src/protocol/outcome/result.ts";
import type { CallFailure } from "../api.ts";
import { Board } from "../board/board.ts";
import { type BoardData, readBoard } from "../board/model.ts";
import { drawEmpty, drawHeading } from "../draw.ts";
import { readPages } from "../pages.ts";
import { parseRoute, queryOf } from "../route.ts";
import type { SectionContext, ShowSection } from "../section.ts";

/** The board that is shown, and the project of it. */
let shown: { readonly projectId: string; readonly board: Board } | undefined;

export const showGraph: ShowSection = async (context) => {
  const { projectId, route } = context;
  const read = await readShown(context);
  if (!read.ok) return fail(read.failure);
  const data = read.value;
  if (data.nodes.length === 0 && route.query === undefined) {
    const hint = 'Say in the chat: "Add a Crafting and a Weather system."';
    const heading = drawHeading("Dependency graph");
    return ok([heading, drawEmpty("There is nothing to draw yet.", hint)]);
  }
  if (shown?.projectId === projectId) shown.board.update(withChoice(context), data);
  else {
    const plans = await readPlans(context);
    shown = { projectId, board: new Board({ context: withChoice(context), data, plans }) };
  }
  return ok([shown.board.root]);
};

/** The address holds the system that the reader chose while the board was read. */
function withChoice(context: SectionContext): SectionContext {
  const { projectId, route } = context;
  const now = parseRoute(location.hash);
  const isHere = now.projectId === projectId && now.section === route.section;
  return isHere ? { ...context, route: now } : context;
}

async function readShown({
  api,
  projectId,
  route,
}: SectionContext): Promise<Result<BoardData, CallFailure>> {
  const [layer, plan] = [queryOf(route, "layer"), queryOf(route, "plan")];
  const read = await api.read("get_board", {
    projectId,
    ...(layer && { mvpCriticality: layer }),
    ...(plan && { planId: plan }),
    ...(route.itemId !== undefined && { near: route.itemId }),
  });
  return read.ok ? ok(readBoard(read.value)) : read;
}

/** The plans by which the board can be filtered. Without an answer there is no such filter. */
async function readPlans({ api, projectId }: SectionContext): Promise<readonly JsonObject[]> {
  const list = { tool: "list_version_plans", args: { projectId } };
  const read = await readPages(api, list, 1);
  return read.ok ? read.value.items : [];
}
