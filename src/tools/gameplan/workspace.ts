import { defineWorkspace } from "../../exports/tools.ts";
import { listProjects } from "./project/list-projects.ts";
import { getProject } from "./project/get-project.ts";
import { createProject } from "./project/create-project.ts";
import { updateProject } from "./project/update-project.ts";
import { deleteProject } from "./project/delete-project.ts";
import { getProjectActivity } from "./project/get-project-activity.ts";
import { readOpenProject } from "./project/read-open-project.ts";
import { listGameSystems } from "./game-system/list-game-systems.ts";
import { getGameSystem } from "./game-system/get-game-system.ts";
import { createGameSystem } from "./game-system/create-game-system.ts";
import { updateGameSystem } from "./game-system/update-game-system.ts";
import { deleteGameSystem } from "./game-system/delete-game-system.ts";
import { importSystem } from "./game-system/import-system.ts";
import { listBrainstorms } from "./brainstorm/list-brainstorms.ts";
import { getBrainstorm } from "./brainstorm/get-brainstorm.ts";
import { createBrainstorm } from "./brainstorm/create-brainstorm.ts";
import { deleteBrainstorm } from "./brainstorm/delete-brainstorm.ts";
import { getDependencyGraph } from "./dependency/get-dependency-graph.ts";
import { addDependency } from "./dependency/add-dependency.ts";
import { removeDependency } from "./dependency/remove-dependency.ts";
import { getImpactAnalysis } from "./dependency/get-impact-analysis.ts";
import { listVersionPlans } from "./version-plan/list-version-plans.ts";
import { getVersionPlan } from "./version-plan/get-version-plan.ts";
import { addPlanPhases } from "./version-plan/add-plan-phases.ts";
import { clearPlanPhases } from "./version-plan/clear-plan-phases.ts";
import { draftVersionPlan } from "./version-plan/draft-version-plan.ts";
import { validateVersionScope } from "./version-plan/validate-version-scope.ts";
import { finalizeVersionPlan } from "./version-plan/finalize-version-plan.ts";
import { deleteVersionPlan } from "./version-plan/delete-version-plan.ts";
import { copyVersionPlan } from "./version-plan/copy-version-plan.ts";
import { listIdeaThreads } from "./idea-stream/list-idea-threads.ts";
import { getThreadMessages } from "./idea-stream/get-thread-messages.ts";
import { createIdeaThread } from "./idea-stream/create-idea-thread.ts";
import { postIdeaMessage } from "./idea-stream/post-idea-message.ts";
import { markThreadRead } from "./idea-stream/mark-thread-read.ts";
import { previewThreads } from "./idea-stream/finalize-threads.ts";
import { lockThreads } from "./idea-stream/lock-threads.ts";
import { mergeThreads } from "./idea-stream/merge-threads.ts";
import { unlockThreads } from "./idea-stream/unlock-threads.ts";
import { reopenThreads } from "./idea-stream/reopen-threads.ts";
import { listExports } from "./export/list-exports.ts";
import { generateExport } from "./export/generate-export.ts";
import { getExport } from "./export/get-export.ts";
import { listBin } from "./bin/list-bin.ts";
import { restore } from "./bin/restore.ts";
import { discard } from "./bin/discard.ts";
import { revert } from "./bin/revert.ts";
import { emptyBin } from "./bin/empty-bin.ts";
import { previewSystemDeletion } from "./game-system/delete-game-system.ts";
import { findTarget } from "./rows/check-target.ts";
import { timed, type AnyGameplanOperation } from "./timed-operation.ts";
import { MIGRATIONS } from "./tables.ts";

/** The data of GamePlan: the projects of one team. */
export const gameplanWorkspace = defineWorkspace({
  name: "gameplan",
  migrations: MIGRATIONS,
  operations: (
    [
      listProjects,
      getProject,
      createProject,
      updateProject,
      deleteProject,
      getProjectActivity,
      readOpenProject,
      listGameSystems,
      getGameSystem,
      createGameSystem,
      updateGameSystem,
      deleteGameSystem,
      importSystem,
      listBrainstorms,
      getBrainstorm,
      createBrainstorm,
      deleteBrainstorm,
      getDependencyGraph,
      addDependency,
      removeDependency,
      getImpactAnalysis,
      listVersionPlans,
      getVersionPlan,
      draftVersionPlan,
      addPlanPhases,
      clearPlanPhases,
      validateVersionScope,
      finalizeVersionPlan,
      deleteVersionPlan,
      copyVersionPlan,
      listIdeaThreads,
      getThreadMessages,
      createIdeaThread,
      postIdeaMessage,
      markThreadRead,
      lockThreads,
      mergeThreads,
      unlockThreads,
      reopenThreads,
      listExports,
      generateExport,
      getExport,
      listBin,
      restore,
      discard,
      revert,
      emptyBin,
      previewSystemDeletion,
      previewThreads,
      findTarget,
    ] satisfies AnyGameplanOperation[]
  ).map((operation) => timed(operation)),
});
