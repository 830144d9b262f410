/**
 * Import rules of the design: what each folder may reach, types included. Everything not listed is
 * forbidden. test/architecture.node.test.ts plants a violation of each kind to prove that they
 * bite.
 */
export const FOLDERS = {
  protocol: { inside: [], packages: ["valibot", "canonicalize"] },
  env: { inside: ["protocol"], packages: ["valibot"] },
  capabilities: { inside: ["protocol"], packages: [] },
  wire: {
    inside: ["protocol"],
    packages: ["eventsource-parser", "assistant-stream", "openai", "@anthropic-ai/sdk"],
  },
  contracts: {
    inside: ["protocol", "capabilities"],
    packages: ["valibot", "@valibot/to-json-schema", "ret"],
  },
  "core-tools": {
    inside: ["protocol", "capabilities", "contracts"],
    packages: ["valibot"],
  },
  // Any author could have written an application: it sees what the package exports.
  apps: {
    inside: [],
    packages: ["valibot"],
    files: ["src/exports/tools.ts", "src/testing/index.ts"],
    except: ["[^/]+/(test|page)/"],
  },
  // The page of an application is made from the parts of the other pages.
  page: {
    inside: ["apps", "widget", "client", "protocol"],
    packages: ["eventsource-parser"],
  },
  workspace: { inside: ["protocol", "capabilities", "contracts"], packages: ["valibot"] },
  runner: { inside: ["protocol", "capabilities", "contracts"], packages: [] },
  loop: { inside: ["protocol", "capabilities", "contracts", "runner"], packages: [] },
  run: { inside: ["protocol", "capabilities", "contracts", "runner"], packages: [] },
  conversation: { inside: ["protocol", "capabilities"], packages: [] },
  adapters: { inside: ["protocol", "capabilities", "wire", "env"], packages: ["jose", "valibot"] },
  telemetry: { inside: ["protocol"], packages: [] },
  http: {
    inside: ["protocol", "capabilities", "wire", "contracts", "telemetry"],
    packages: ["hono", "valibot"],
  },
  // What programs and pages import to reach a deployment.
  client: { inside: ["protocol", "wire"], packages: [], built: [".interlock/api.ts"] },
  widget: {
    inside: ["client", "protocol", "wire"],
    packages: ["eventsource-parser", "highlight.js", "lowlight", "markdown-it"],
  },
  compose: {
    inside: [
      "protocol",
      "env",
      "capabilities",
      "wire",
      "contracts",
      "runner",
      "loop",
      "run",
      "adapters",
      "http",
      "workspace",
    ],
    packages: ["hono"],
  },
  "durable-objects": {
    inside: [
      "compose",
      "run",
      "loop",
      "conversation",
      "workspace",
      "contracts",
      "protocol",
      "capabilities",
      "env",
    ],
    // The audit log hashes and the run's log compresses within a transaction, which the
    // asynchronous Web Crypto and CompressionStream cannot.
    packages: ["cloudflare:workers", "node:crypto", "node:zlib"],
  },
  testing: {
    inside: [
      "protocol",
      "capabilities",
      "wire",
      "contracts",
      "runner",
      "loop",
      "run",
      "adapters",
      "workspace",
    ],
    packages: ["valibot"],
  },
  "define-deployment": {
    inside: ["protocol", "compose", "contracts", "env", "durable-objects"],
    packages: ["cloudflare:workers"],
  },
  "host-workspaces": {
    inside: ["compose", "contracts", "env", "durable-objects"],
    packages: [],
  },
  "replay-runs": { inside: ["compose", "loop", "http"], packages: [] },
  "otlp-traces": {
    inside: ["compose", "run", "telemetry", "adapters", "capabilities", "protocol", "env"],
    packages: [],
  },
  exports: {
    inside: [
      "define-deployment",
      "host-workspaces",
      "http",
      "core-tools",
      "contracts",
      "capabilities",
      "protocol",
    ],
    packages: [],
  },
  index: {
    inside: ["define-deployment", "host-workspaces", "http", "wire", "apps"],
    packages: [],
    files: ["src/exports/tools.ts"],
    built: [".interlock/contracts.js"],
  },
  // The command `interlock`: it loads a deployment, and imports none.
  cli: {
    inside: [
      "client",
      "protocol",
      "env",
      "capabilities",
      "wire",
      "contracts",
      "runner",
      "loop",
      "adapters",
      "http",
      "workspace",
      "compose",
      "testing",
      "define-deployment",
    ],
    packages: [
      "@copilotkit/aimock",
      "ajv",
      "ajv-formats",
      "esbuild",
      "fast-check",
      "jose",
      "oxc-parser",
      "valibot",
      "wrangler",
    ],
    isOnNode: true,
  },
  // What only this repository runs. Its crash tests play providers with the fakes of the tests.
  scripts: {
    inside: ["cli", "src", "durable-objects", "apps", "test/fakes"],
    packages: [
      "@valibot/to-json-schema",
      "esbuild",
      "miniflare",
      "oxc-parser",
      "playwright-core",
      "typescript",
      "valibot",
      "vitest",
      "wrangler",
    ],
    isOnNode: true,
  },
};

const FILES = new Set([
  "env",
  "define-deployment",
  "host-workspaces",
  "replay-runs",
  "otlp-traces",
  "index",
]);

/** Folders whose path starts at the root, not in src. */
const BESIDE = new Set(["src", "durable-objects", "apps", "cli", "scripts", "test/fakes"]);

function pathOf(folder) {
  if (BESIDE.has(folder)) return `^${folder}/`;
  // The list of the deployment's tools is a part of the entry.
  if (folder === "index") return "^src/(tools/)?index\\.ts$";
  if (folder === "page") return "^apps/[^/]+/page/";
  return FILES.has(folder) ? `^src/${folder}\\.ts$` : `^src/${folder}/`;
}

function escape(text) {
  return text.replace(/[/.:]/g, "\\$&");
}

function ruleFor([folder, { inside, packages, isOnNode, built = [], files = [], except = [] }]) {
  const folders = [folder, ...inside].map((allowed) => pathOf(allowed));
  const allowed = [...folders, ...files.map((file) => `^${escape(file)}$`)];
  const installed = packages.map((name) => `node_modules/${escape(name)}(/|$)`);
  // The name of what Node brings along comes without its prefix.
  const builtIn = packages
    .filter((name) => name.includes(":"))
    .map((name) => `^${escape(name.replace(/^node:/, ""))}$`);
  // The build may not have run yet; then the path is as it was written.
  const outputs = built.map((file) => `(^|/)${escape(file)}$`);
  return {
    name: `${folder}-imports`,
    severity: "error",
    from: { path: pathOf(folder), pathNot: except.map((path) => `${pathOf(folder)}${path}`) },
    to: {
      pathNot: [...allowed, ...installed, ...builtIn, ...outputs, "\\.css$"],
      ...(isOnNode && { dependencyTypesNot: ["core"] }),
    },
  };
}

export default {
  forbidden: [
    ...Object.entries(FOLDERS).map(ruleFor),
    {
      name: "contracts-are-compiled",
      comment:
        "What derives and checks contracts stays out of the deployed Worker; its build runs it.",
      severity: "error",
      from: { path: "^src/index\\.ts$" },
      to: { path: "^src/contracts/check/", reachable: true },
    },
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    {
      name: "no-stray-folder",
      comment: "A new folder needs a row above before it may import anything.",
      severity: "error",
      from: { path: "^src/", pathNot: Object.keys(FOLDERS).map((folder) => pathOf(folder)) },
      to: {},
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    parser: "swc",
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: {
      extensions: [".ts", ".mjs", ".js"],
      exportsFields: ["exports"],
      conditionNames: ["import", "types", "default"],
    },
  },
};
