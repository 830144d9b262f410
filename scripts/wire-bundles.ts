import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build, type Plugin } from "esbuild";

const ROOT = join(import.meta.dirname, "..");
/** The file that lists the model wires of the reference deployment. */
const LIST = join(ROOT, "src/index.ts");
const LISTED = /(wires: \{\s+models: )\[([^\]]*)\]/;
const CLIENTS_LISTED = /(clients: )\[[^\]]*\]/;
/** The files of the clients that a deployment may name beside its first wire, by their name. */
export const CLIENTS: Readonly<Record<string, string>> = {
  uiMessage: "ui-chat",
  uiMessage6: "ui-chat-6",
  agUi: "ag-ui",
  openAIResponses: "openai-responses",
  openAICompletions: "openai-completions",
};
const IMPORT = /import \{ (\w+) \} from "\.\/wire\/(\w+)\/wire\.ts";/g;

/** The Worker of the reference deployment, or of a part of it. */
export interface EntryBundle {
  readonly code: string;
  readonly compressedBytes: number;
  /** Source files that the bundle holds a byte of. */
  readonly files: readonly string[];
}

/** The folders of the listed model wires in `src/wire`, by the name that the list uses. */
export function listedWires(): ReadonlyMap<string, string> {
  const text = readFileSync(LIST, "utf8");
  const listed =
    LISTED.exec(text)?.[2]
      ?.split(",")
      .map((name) => name.trim()) ?? [];
  const folders = new Map([...text.matchAll(IMPORT)].map(([, name = "", at = ""]) => [name, at]));
  return new Map(listed.map((name) => [name, folders.get(name) ?? name]));
}

/**
 * Bundles the Worker without one of the listed wires, as if its name were removed from the list; or
 * whole.
 */
export async function bundleWithoutWire(left?: string): Promise<EntryBundle> {
  const names = [...listedWires().keys()].filter((name) => name !== left);
  return bundleEntry(changingList((text) => text.replace(LISTED, `$1[${names.join(", ")}]`)));
}

/** What lets clients declare tools, and its file. */
const CLIENT_TOOLS = "openAIClientTools";
export const CLIENT_TOOLS_FILE = "src/http/clients/openai-client-tools.ts";

/**
 * Bundles the Worker with these clients beside its first wire, and no others. `clientTools`: they
 * may declare tools.
 */
export function bundleWithClients(
  names: readonly string[],
  { clientTools = false }: { readonly clientTools?: boolean } = {},
): Promise<EntryBundle> {
  const listed = ["assistantTransport", ...names].join(", ");
  const allowing = `import { ${CLIENT_TOOLS} } from "../${CLIENT_TOOLS_FILE}";\n`;
  return bundleEntry(
    changingList((text) => {
      const others = text.replace(/^import .*"\.\/http\/clients\/.*;$/gm, "");
      const imports = names.map((name) => {
        return `import { ${name} } from "./http/clients/${CLIENTS[name]}.ts";\n`;
      });
      const named = `$1[${listed}]${clientTools ? `, clientTools: ${CLIENT_TOOLS}` : ""}`;
      const all = clientTools ? [...imports, allowing] : imports;
      return all.join("") + others.replace(CLIENTS_LISTED, named);
    }),
  );
}

/** Options of a deployment that weigh nothing where they are not named, and what they take. */
const OPTIONS = {
  replay: { name: "replayRuns", file: "replay-runs.ts" },
  traces: { name: "otlpTraces", file: "otlp-traces.ts" },
} as const;

/** Bundles the Worker with one of the options. */
export function bundleWith(option: keyof typeof OPTIONS): Promise<EntryBundle> {
  const { name, file } = OPTIONS[option];
  const imported = `import { ${name} } from "./${file}";\n`;
  const named = `  ${option}: ${name},\n$&`;
  return bundleEntry(changingList((text) => imported + text.replace(/^ {2}pages: /m, named)));
}

/** Bundles the entry of the reference deployment. The plugin changes sources on the way. */
export async function bundleEntry(plugin: Plugin): Promise<EntryBundle> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ["src/index.ts"],
    plugins: [plugin],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*"],
  });
  const [output] = Object.values(metafile.outputs);
  const code = outputFiles[0]?.text ?? "";
  return {
    code,
    compressedBytes: gzipSync(code, { level: 9 }).byteLength,
    files: Object.entries(output?.inputs ?? {}).flatMap(([file, { bytesInOutput }]) =>
      bytesInOutput > 0 ? [file] : [],
    ),
  };
}

function changingList(change: (text: string) => string): Plugin {
  return {
    name: "listed-wires",
    setup(bundler) {
      bundler.onLoad({ filter: /\/src\/index\.ts$/ }, () => ({
        contents: change(readFileSync(LIST, "utf8")),
        loader: "ts",
      }));
    },
  };
}
