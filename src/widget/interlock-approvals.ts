import type { ApiOptions } from "../client/send-authorised.ts";
import { createQueueApi } from "./approval/queue-api.ts";
import { ApprovalsView } from "./approval/view.ts";
import { defineElement, PaneElement } from "./panes/pane-element.ts";
import type { SignInPorts } from "./panes/sign-in.ts";
import { createApprovalsSheets } from "./style-sheets.ts";

const sheets = createApprovalsSheets();

/** `<interlock-approvals>`: the approval queue, and one approval to decide. */
export class InterlockApprovals extends PaneElement {
  protected readonly sheets = sheets;

  protected createView(api: ApiOptions, ports: SignInPorts): ApprovalsView {
    return new ApprovalsView(createQueueApi(api), ports);
  }
}

defineElement("interlock-approvals", InterlockApprovals);
