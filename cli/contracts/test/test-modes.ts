import { approvalGate } from "./modes/approval-gate.ts";
import { compensation } from "./modes/compensation.ts";
import { idempotency } from "./modes/idempotency.ts";
import { observationContract } from "./modes/observation-contract.ts";
import { permissionBoundary } from "./modes/permission-boundary.ts";
import { promptInjection } from "./modes/prompt-injection.ts";
import { repairLoop } from "./modes/repair-loop.ts";
import { replay } from "./modes/replay.ts";
import { retry } from "./modes/retry.ts";
import { schemaConformance } from "./modes/schema-conformance.ts";
import { schemaDrift } from "./modes/schema-drift.ts";
import { semanticValidation } from "./modes/semantic-validation.ts";
import { vainQuestions } from "./modes/vain-questions.ts";
import type { TestMode } from "./test-mode.ts";

/**
 * The twelve test modes of seeds/004, "Tool Contract Evaluation Harness", in its order, and one for
 * questions that a person answers in vain.
 */
export const TEST_MODES: readonly TestMode[] = [
  schemaConformance,
  semanticValidation,
  permissionBoundary,
  approvalGate,
  idempotency,
  retry,
  repairLoop,
  observationContract,
  compensation,
  promptInjection,
  schemaDrift,
  replay,
  vainQuestions,
];
