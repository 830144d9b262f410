import { stillRuns } from "../subject.ts";
import { inapplicable, pending, type TestMode } from "../test-mode.ts";

/** The compensation tool of a contract is able to compensate. */
export const compensation: TestMode = {
  id: "compensation",
  name: "Compensation",
  async run({ contract, companions }, checks) {
    if (contract.effect === "read_only") return inapplicable("it changes nothing");
    const { compensationTool } = contract.transactional;
    if (compensationTool === null) {
      return inapplicable("it names no tool that undoes it");
    }
    const able = companions.filter(({ name }) => name === compensationTool);
    const running = able.filter(stillRuns);
    checks.that(`${compensationTool} still runs`, running.length > 0);
    const writes = running.every(({ effect }) => effect !== "read_only");
    checks.that(`${compensationTool} can change something`, writes);
    return pending("nothing runs what undoes a call yet");
  },
};
