import { compileContracts } from "../../src/contracts/catalog/compiled.ts";
import { registerContracts } from "../../src/contracts/check/register.ts";
import { defineDeployment } from "../../src/define-deployment.ts";
import type { RawEnv } from "../../src/env.ts";
import { approvalsPage, chatPage, runsPage } from "../../src/http/pages/pages.ts";
import { EVERY_WIRE_AND_PAGE } from "../shared/deployment.ts";
import { connectTown, STORY_TOOLS } from "./story-tools.ts";

const story = defineDeployment({
  ...EVERY_WIRE_AND_PAGE,
  pages: [chatPage, approvalsPage, runsPage],
  tools: STORY_TOOLS,
  compiled: compileContracts(registerContracts(STORY_TOOLS)),
});

/** The product's run with the tools of the story. */
export class RunObject extends story.RunObject {
  constructor(ctx: DurableObjectState, env: RawEnv) {
    connectTown(env);
    super(ctx, env);
  }
}

export const { TenantObject } = story;

export default story.worker;
