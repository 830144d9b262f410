import type { ClientOptions } from "../client/ports.ts";
import { defineElement, PaneElement } from "./panes/pane-element.ts";
import type { SignInPorts } from "./panes/sign-in.ts";
import { createRunsApi } from "./runs/api.ts";
import { RunsView } from "./runs/view.ts";
import { createRunsSheets } from "./style-sheets.ts";

const sheets = createRunsSheets();

/** `<interlock-runs>`: the runs of a tenant, and what decided one of them. */
export class InterlockRuns extends PaneElement {
  protected readonly sheets = sheets;

  protected createView(api: ClientOptions, ports: SignInPorts): RunsView {
    return new RunsView(createRunsApi(api), ports);
  }
}

defineElement("interlock-runs", InterlockRuns);
