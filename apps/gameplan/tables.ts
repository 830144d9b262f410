/** Columns that every row has which people can delete: it stays in the bin for 30 days. */
const KEPT = `
  id TEXT NOT NULL UNIQUE, project_id TEXT NOT NULL, revision INTEGER NOT NULL,
  created_at INTEGER NOT NULL, created_by TEXT NOT NULL,
  deleted_at INTEGER, deleted_by TEXT`;

const BINNED = ["projects", "systems", "dependencies", "brainstorms", "plans", "threads"]
  .concat("messages", "exports")
  .map(
    (table) => `CREATE INDEX ${table}_in_bin ON ${table} (deleted_at) WHERE deleted_at NOT NULL;`,
  )
  .join("\n");

const BY_PROJECT = ["brainstorms", "threads", "exports", "activity"]
  .map((table) => `CREATE INDEX ${table}_by_project ON ${table} (project_id, seq);`)
  .join("\n");

/** Columns that hold texts. */
function texts(names: string): string {
  return names
    .split(" ")
    .map((name) => `${name} TEXT NOT NULL`)
    .join(", ");
}

/**
 * The tables of GamePlan, one entry a version; entries are only appended. Times are Unix
 * milliseconds. `seq` gives lists their order. The column `project_id` of a project is its own id.
 */
export const MIGRATIONS: readonly string[] = [
  `
CREATE TABLE projects (seq INTEGER PRIMARY KEY, ${KEPT},
  ${texts("tenant_id name description genre platform status")}, updated_at INTEGER NOT NULL);

CREATE TABLE systems (seq INTEGER PRIMARY KEY, ${KEPT},
  ${texts("slug name mvp_criticality status purpose core_mechanics current_state target_state inputs outputs failure_states scaling_behavior implementation_notes open_questions")}, updated_at INTEGER NOT NULL);
CREATE UNIQUE INDEX systems_by_slug ON systems (project_id, slug) WHERE deleted_at IS NULL;

CREATE TABLE changelog (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, entity_id TEXT NOT NULL,
  revision INTEGER NOT NULL, at INTEGER NOT NULL, ${texts("author summary before")});
CREATE INDEX changelog_by_entity ON changelog (entity_id, revision);

CREATE TABLE dependencies (seq INTEGER PRIMARY KEY, ${KEPT},
  ${texts("source_id target_id type")});
CREATE UNIQUE INDEX dependencies_by_source ON dependencies (source_id, target_id)
  WHERE deleted_at IS NULL;
CREATE INDEX dependencies_by_target ON dependencies (target_id) WHERE deleted_at IS NULL;
CREATE INDEX dependencies_by_project ON dependencies (project_id) WHERE deleted_at IS NULL;

CREATE TABLE brainstorms (seq INTEGER PRIMARY KEY, ${KEPT},
  ${texts("title author tags source content outputs thread_ids")});

CREATE TABLE plans (seq INTEGER PRIMARY KEY, ${KEPT},
  ${texts("version name goal status")},
  finalized_at INTEGER);
CREATE UNIQUE INDEX plans_by_version ON plans (project_id, version) WHERE deleted_at IS NULL;
CREATE TABLE plan_phases (plan_id TEXT NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL,
  PRIMARY KEY (plan_id, number)) WITHOUT ROWID;
CREATE TABLE plan_systems (plan_id TEXT NOT NULL, system_id TEXT NOT NULL,
  phase INTEGER NOT NULL, place INTEGER NOT NULL, ${texts("name slug mvp_criticality")}, PRIMARY KEY (plan_id, system_id)) WITHOUT ROWID;
CREATE INDEX plan_systems_by_system ON plan_systems (system_id);

CREATE TABLE threads (seq INTEGER PRIMARY KEY, ${KEPT},
  title TEXT NOT NULL, status TEXT NOT NULL, brainstorm_id TEXT, last_number INTEGER NOT NULL);
CREATE TABLE messages (seq INTEGER PRIMARY KEY, ${KEPT},
  thread_id TEXT NOT NULL, number INTEGER NOT NULL, text TEXT NOT NULL);
CREATE UNIQUE INDEX messages_by_thread ON messages (thread_id, number);
CREATE TABLE read_marks (thread_id TEXT NOT NULL, person TEXT NOT NULL, number INTEGER NOT NULL,
  PRIMARY KEY (thread_id, person)) WITHOUT ROWID;

CREATE TABLE exports (seq INTEGER PRIMARY KEY, ${KEPT},
  ${texts("kind title file_name")}, characters INTEGER NOT NULL,
  parts INTEGER NOT NULL);
CREATE TABLE export_parts (export_id TEXT NOT NULL, part INTEGER NOT NULL, text TEXT NOT NULL,
  PRIMARY KEY (export_id, part)) WITHOUT ROWID;

CREATE TABLE activity (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, project_id TEXT NOT NULL,
  at INTEGER NOT NULL, ${texts("actor action entity entity_id summary")});
${BY_PROJECT}
${BINNED}
`,
  `
ALTER TABLE activity ADD COLUMN run_id TEXT;
ALTER TABLE activity ADD COLUMN call_id TEXT;
`,
  `
CREATE TABLE places (system_id TEXT PRIMARY KEY, project_id TEXT NOT NULL, x INTEGER NOT NULL,
  y INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE boards (project_id TEXT PRIMARY KEY, revision INTEGER NOT NULL, before TEXT NOT NULL)
  WITHOUT ROWID;
`,
  `
CREATE INDEX messages_by_project ON messages (project_id, seq);
`,
  `
ALTER TABLE projects ADD COLUMN members TEXT NOT NULL DEFAULT '{"*":"member"}';
UPDATE projects SET members = json_object(created_by, 'owner', '*', 'member');
`,
];
