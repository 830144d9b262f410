import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { openStage, type Stage, type Visit, type VisitOptions } from "./open-page.ts";

/**
 * Opens one browser for a test file, and returns the function that opens a visit in it. After each
 * test the visit is closed, and must have no complaints.
 */
export function usePage(onVisit: (visit: Visit) => void) {
  let stage: Stage;
  let visit: Visit | undefined;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage.close());
  afterEach(async () => {
    await visit?.close();
    expect(visit?.complaints).toEqual([]);
  });
  return async (options?: VisitOptions): Promise<void> => {
    visit = await stage.open(options);
    onVisit(visit);
  };
}
