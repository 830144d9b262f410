import type { ClientOptions } from "../client/ports.ts";
import { createQueueApi } from "./approval/queue-api.ts";
import { DeskView } from "./desk/desk-view.ts";
import { defineElement, PaneElement } from "./panes/pane-element.ts";
import type { SignInPorts } from "./panes/sign-in.ts";
import { createDeskSheets } from "./style-sheets.ts";

const sheets = createDeskSheets();

/** `<interlock-approvals>`: the operators' desk. */
export class InterlockApprovals extends PaneElement {
  protected readonly sheets = sheets;

  protected createView(api: ClientOptions, ports: SignInPorts): DeskView {
    return new DeskView(createQueueApi(api), ports, this);
  }
}

defineElement("interlock-approvals", InterlockApprovals);
