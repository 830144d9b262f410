import type { Mutant } from "./mutant.ts";

const PULL = "test/cli/pull-attacks.node.test.ts";
const PUSH = "test/cli/push.node.test.ts";
const RACES = "test/cli/push-races.node.test.ts";
const CHECK = "test/cli/check.node.test.ts";
const SECRETS = "test/cli/push-secrets.node.test.ts";

/** What protects a deployment, its documents and its secrets from the commands of its authors. */
export const ENVIRONMENTS: readonly Mutant[] = [
  {
    name: "a module that a Worker cannot start with passes the build",
    file: "cli/project/start-guard.ts",
    from: "if (!startGuard.isStarting) return",
    to: "if (startGuard) return",
    test: {
      file: "test/cli/start-guard.node.test.ts",
      name: "a module that calls crypto.randomUUID at its top level is refused",
    },
  },
  {
    name: "commands cannot run what a Worker may run later",
    file: "cli/project/start-guard.ts",
    from: 'js: "startGuard.isStarting = false;"',
    to: 'js: ""',
    test: {
      file: "test/cli/start-guard.node.test.ts",
      name: "functions may call them, and commands may then call the functions",
    },
  },
  {
    name: "a refusal repeats the token of a push",
    file: "cli/push/deployment-client.ts",
    from: "message: hide(message)",
    to: "message",
    test: {
      file: PULL,
      name: "push does not print the token that a refused read repeats",
    },
  },
  {
    name: "any text is the hash of a stored document",
    file: "cli/push/stored-documents.ts",
    from: " || !HASH.test(hash)",
    to: "",
    test: { file: PULL, name: "a hash that is none does not break the record of pushes" },
  },
  {
    name: "any id that a deployment lists is the key of a file",
    file: "cli/push/local-documents.ts",
    from: "return isKey ? kind : undefined;",
    to: "return kind;",
    test: {
      file: PULL,
      name: "push prints no control character of an id",
    },
  },
  {
    name: "pull writes any document that a deployment answers with",
    file: "cli/commands/pull.ts",
    from: "readLocalDocument({ kind, id, document });",
    to: "",
    test: { file: PULL, name: "pull writes no document of a form that it does not know" },
  },
  {
    name: "a push overwrites what somebody changed at the deployment",
    file: "cli/push/plan.ts",
    from: "if (stored.hash === pushed) return",
    to: "if (stored.hash !== undefined) return",
    test: {
      file: PUSH,
      name: "never overwrites what somebody changed at the deployment, and changes nothing else then",
    },
  },
  {
    name: "a push names no revision that it replaces",
    file: "cli/push/apply-plan.ts",
    from: "const headers = preconditionOf(stored);",
    to: "const headers = stored && {};",
    test: {
      file: RACES,
      name: "the one who comes second overwrites nothing, and learns what was applied",
    },
  },
  {
    name: "a push deletes without being told to",
    file: "cli/push/plan.ts",
    from: 'action: deletes ? "delete" : "removed"',
    to: 'action: deletes ? "delete" : "delete"',
    test: { file: PUSH, name: "deletes what it pushed only when it is told to" },
  },
  {
    name: "the output of a push repeats a secret",
    file: "cli/commands/push.ts",
    from: "hide: hideValues(secrets)",
    to: "hide: hideValues([])",
    test: {
      file: SECRETS,
      name: "never appear in the output, not even when the deployment repeats them",
    },
  },
  {
    name: "a file of a connection may hold the secret",
    file: "cli/push/local-documents.ts",
    from: "const read = v.safeParse(reference, document[field]);",
    to: "const read = { success: true, output: { variable: String(document[field]) } } as const;",
    test: { file: SECRETS, name: "in a file are refused: the key of a provider" },
  },
  {
    name: "a token is sent without TLS",
    file: "cli/push/target.ts",
    from: '(url.protocol === "http:" && isLoopback(url))',
    to: '(url.protocol === "http:" || isLoopback(url))',
    test: { file: PUSH, name: "sends no token to http://example.test" },
  },
  {
    name: "a push follows redirects",
    file: "cli/push/deployment-client.ts",
    from: 'redirect: "manual",',
    to: "",
    test: { file: PUSH, name: "follows no redirect, so that no other server gets the token" },
  },
  {
    name: "a stored text reaches the terminal as it is",
    file: "cli/push/report.ts",
    from: 'const text = toVisible(JSON.stringify(value) ?? "").text;',
    to: 'const text = JSON.stringify(value) ?? "";',
    test: {
      file: "test/cli/push-report.node.test.ts",
      name: "a stored text cannot move the cursor or hide a part of the line",
    },
  },
  {
    name: "a pull replaces a file that was never pushed",
    file: "cli/commands/pull.ts",
    from: "if (hasEdits && !overwrites) {",
    to: "if (hasEdits && !local) {",
    test: {
      file: PUSH,
      name: "keeps a file with changes that were never pushed, until it is told otherwise",
    },
  },
  {
    name: "a check passes the switch that admits everybody",
    file: "cli/environment/check-settings.ts",
    from: "if (name === DEVELOPER) {",
    to: 'if (name === "") {',
    test: { file: CHECK, name: "fails for DEVELOPER = {}" },
  },
  {
    name: "a check passes an address of this machine",
    file: "cli/environment/check-settings.ts",
    from: "if (LOOPBACK.test(text)) {",
    to: 'if (text === "") {',
    test: { file: CHECK, name: "fails for HOUSE_BASE_URL = https://localhost:8080/v1" },
  },
  {
    name: "a check passes an address without TLS",
    file: "cli/environment/check-settings.ts",
    from: "if (PLAIN_HTTP.test(text)) {",
    to: "if (text === name) {",
    test: { file: CHECK, name: "fails for HOUSE_BASE_URL = http://models.house.dev" },
  },
  {
    name: "a check passes a key that stands in wrangler.toml",
    file: "cli/environment/check-settings.ts",
    from: ".filter(isSecretName)",
    to: '.filter((name) => name === "")',
    test: { file: CHECK, name: "fails for HOUSE_API_KEY = sk-in-the-open" },
  },
  {
    name: "a check takes the bindings of the top level for those of an environment",
    file: "cli/environment/environment-config.ts",
    from: "asked: read(environment),",
    to: "asked: read(undefined),",
    test: {
      file: CHECK,
      name: "says of each binding of the top level that a named environment does not inherit it",
    },
  },
  {
    name: "a command reads an answer without an end",
    file: "cli/bounded-input.ts",
    from: "if (bytes > MAX_ANSWER_BYTES) throw",
    to: "if (bytes < 0) throw",
    test: {
      file: "test/cli/pull-attacks.node.test.ts",
      name: "pull stops to read an answer that never ends",
    },
  },
];
