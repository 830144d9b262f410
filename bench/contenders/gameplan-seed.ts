/** The project that the bench reads. */
export const PROJECT_ID = "bench-project";
export const TENANT_ID = "bench";

const KEPT = "id, project_id, revision, created_at, created_by";
const TEXTS =
  "core_mechanics, current_state, target_state, inputs, outputs, failure_states, " +
  "scaling_behavior, implementation_notes, open_questions";
const NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)";

/** Statements that fill the tables of GamePlan; each takes the number of systems. */
export const SEED: readonly string[] = [
  `${NUMBERS} INSERT INTO projects
     (${KEPT}, tenant_id, name, description, genre, platform, status, updated_at)
   SELECT '${PROJECT_ID}', '${PROJECT_ID}', 1, 0, 'bench', '${TENANT_ID}', 'Bench', '', '', '',
     'active', 0 FROM n WHERE i = 1`,
  `${NUMBERS} INSERT INTO systems
     (${KEPT}, slug, name, mvp_criticality, status, purpose, ${TEXTS}, updated_at)
   SELECT 's' || i, '${PROJECT_ID}', 1, 0, 'bench', printf('system-%06d', i), 'System ' || i,
     'core', 'active', 'What system ' || i || ' does in the game.',
     '', '', '', '', '', '', '', '', '', 0 FROM n`,
  // A chain, and beside it one dependency more for every second system.
  `${NUMBERS} INSERT INTO dependencies (${KEPT}, source_id, target_id, type)
   SELECT 'd' || i, '${PROJECT_ID}', 1, 0, 'bench', 's' || i, 's' || (i - 1), 'requires'
   FROM n WHERE i > 1`,
  `${NUMBERS} INSERT INTO dependencies (${KEPT}, source_id, target_id, type)
   SELECT 'e' || i, '${PROJECT_ID}', 1, 0, 'bench', 's' || i, 's' || (i / 2), 'enhances'
   FROM n WHERE i > 3 AND i % 2 = 0`,
];

/** The reads that are compared, as SQL alone: the rows that the operation answers from. */
export const RAW_READS = {
  list: [
    `SELECT id, name, slug AS systemSlug, mvp_criticality AS mvpCriticality, status,
       substr(purpose, 1, 200) AS purpose, revision, updated_at AS updatedAt
     FROM systems WHERE project_id = ? AND deleted_at IS NULL ORDER BY slug LIMIT 100`,
    "SELECT count(*) AS total FROM systems WHERE project_id = ? AND deleted_at IS NULL",
  ],
  graph: [
    `SELECT id AS systemId, name, slug AS systemSlug, mvp_criticality AS mvpCriticality, status
     FROM systems WHERE project_id = ? AND deleted_at IS NULL ORDER BY slug`,
    `SELECT source_id AS sourceSystemId, target_id AS targetSystemId, type FROM dependencies
     WHERE project_id = ? AND deleted_at IS NULL ORDER BY seq`,
  ],
} as const;
