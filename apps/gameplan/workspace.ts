import { defineWorkspace } from "interlock-edge/tools";
import { listProjects } from "./tools/project/list-projects.ts";
import { getProject } from "./tools/project/get-project.ts";
import { createProject } from "./tools/project/create-project.ts";
import { updateProject } from "./tools/project/update-project.ts";
import { deleteProject } from "./tools/project/delete-project.ts";
import { listMembers } from "./tools/project/list-members.ts";
import { changeMember } from "./tools/project/change-member.ts";
import { getProjectActivity } from "./tools/project/get-project-activity.ts";
import { searchProject } from "./tools/project/search-project.ts";
import { readOpenProject } from "./tools/project/read-open-project.ts";
import { listGameSystems } from "./tools/game-system/list-game-systems.ts";
import { getGameSystem } from "./tools/game-system/get-game-system.ts";
import { createGameSystem } from "./tools/game-system/create-game-system.ts";
import { updateGameSystem } from "./tools/game-system/update-game-system.ts";
import { deleteGameSystem } from "./tools/game-system/delete-game-system.ts";
import { importSystem } from "./tools/game-system/import-system.ts";
import { listBrainstorms } from "./tools/brainstorm/list-brainstorms.ts";
import { getBrainstorm } from "./tools/brainstorm/get-brainstorm.ts";
import { createBrainstorm } from "./tools/brainstorm/create-brainstorm.ts";
import { deleteBrainstorm } from "./tools/brainstorm/delete-brainstorm.ts";
import { getDependencyGraph } from "./tools/dependency/get-dependency-graph.ts";
import { addDependency } from "./tools/dependency/add-dependency.ts";
import { removeDependency } from "./tools/dependency/remove-dependency.ts";
import { getImpactAnalysis } from "./tools/dependency/get-impact-analysis.ts";
import { listVersionPlans } from "./tools/version-plan/list-version-plans.ts";
import { getVersionPlan } from "./tools/version-plan/get-version-plan.ts";
import { addPlanPhases } from "./tools/version-plan/add-plan-phases.ts";
import { clearPlanPhases } from "./tools/version-plan/clear-plan-phases.ts";
import { draftVersionPlan } from "./tools/version-plan/draft-version-plan.ts";
import { validateVersionScope } from "./tools/version-plan/validate-version-scope.ts";
import { finalizeVersionPlan } from "./tools/version-plan/finalize-version-plan.ts";
import { deleteVersionPlan } from "./tools/version-plan/delete-version-plan.ts";
import { copyVersionPlan } from "./tools/version-plan/copy-version-plan.ts";
import { listIdeaThreads } from "./tools/idea-stream/list-idea-threads.ts";
import { getThreadMessages } from "./tools/idea-stream/get-thread-messages.ts";
import { createIdeaThread } from "./tools/idea-stream/create-idea-thread.ts";
import { postIdeaMessage } from "./tools/idea-stream/post-idea-message.ts";
import { markThreadRead } from "./tools/idea-stream/mark-thread-read.ts";
import { previewThreads } from "./tools/idea-stream/finalize-threads.ts";
import { lockThreads } from "./tools/idea-stream/lock-threads.ts";
import { mergeThreads } from "./tools/idea-stream/merge-threads.ts";
import { unlockThreads } from "./tools/idea-stream/unlock-threads.ts";
import { reopenThreads } from "./tools/idea-stream/reopen-threads.ts";
import { listExports } from "./tools/export/list-exports.ts";
import { generateExport } from "./tools/export/generate-export.ts";
import { getExport } from "./tools/export/get-export.ts";
import { exportData } from "./tools/export/export-data.ts";
import { listBin } from "./tools/bin/list-bin.ts";
import { restore } from "./tools/bin/restore.ts";
import { discard } from "./tools/bin/discard.ts";
import { editRow } from "./tools/bin/edit-row.ts";
import { revert } from "./tools/bin/revert.ts";
import { emptyBin } from "./tools/bin/empty-bin.ts";
import { arrangeSystems } from "./tools/board/arrange-systems.ts";
import { getBoard } from "./tools/board/get-board.ts";
import { previewSystemDeletion } from "./tools/game-system/delete-game-system.ts";
import { timed } from "./tools/timed-operation.ts";
import { mayHear } from "./tools/rows/may-hear.ts";
import { MIGRATIONS } from "./tables.ts";

/** The data of GamePlan: the projects of one team. */
export const gameplanWorkspace = defineWorkspace({
  name: "gameplan",
  migrations: MIGRATIONS,
  operations: [
    listProjects,
    getProject,
    createProject,
    updateProject,
    deleteProject,
    listMembers,
    changeMember,
    getProjectActivity,
    searchProject,
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
    exportData,
    listBin,
    restore,
    discard,
    revert,
    editRow,
    emptyBin,
    getBoard,
    arrangeSystems,
    previewSystemDeletion,
    previewThreads,
  ].map((operation) => timed(operation)),
  mayHear,
});
