import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { beforeAll, describe, expect, test } from "vitest";
import { bundleWithoutGamePlan } from "../../scripts/pack-bundle.ts";
import {
  bundleWith,
  bundleWithClients,
  bundleWithoutWire,
  CLIENT_TOOLS_FILE,
  CLIENTS,
  listedWires,
  type EntryBundle,
} from "../../scripts/wire-bundles.ts";

const MAX_WIRE_BYTES = 4 * 1024;
/** Before compression; see docs/decisions/2026-11-27-what-a-client-weighs.md. */
const MAX_CLIENT_CHARS = 13 * 1024;
/** See docs/decisions/2026-11-28-spans-are-made-at-the-end.md. */
const MAX_TRACES_BYTES = 5.2 * 1024;

describe("the bundle of a deployment", () => {
  let whole: EntryBundle;
  let withAllClients: EntryBundle;
  beforeAll(async () => {
    whole = await bundleWithoutWire();
    withAllClients = await bundleWithClients(Object.keys(CLIENTS));
  });

  test("lists three model wires", () => {
    expect([...listedWires().values()]).toEqual(["openai", "responses", "anthropic"]);
  });

  test.each([...listedWires()])("without %s does not carry the wire", async (name, folder) => {
    const ofWire = new RegExp(`^src/wire/${folder}/(?:wire|.*-(?:encoder|decoder))\\.ts$`);
    const without = await bundleWithoutWire(name);
    expect(whole.files.filter((file) => ofWire.test(file)).length).toBeGreaterThan(2);
    expect(without.files.filter((file) => ofWire.test(file))).toEqual([]);
    expect(whole.compressedBytes - without.compressedBytes).toBeGreaterThan(512);
    expect(whole.compressedBytes - without.compressedBytes).toBeLessThanOrEqual(MAX_WIRE_BYTES);
  });

  test("carries a client only where it is named", async () => {
    const without = await bundleWithClients([]);
    expect(without.files.filter((file) => /ui-message|openai-inbound/.test(file))).toEqual([]);
    expect(without.files.filter((file) => /http\/clients\/(?:ui|openai)-/.test(file))).toEqual([]);
    const names = Object.keys(CLIENTS);
    for (const name of names) {
      const others = await bundleWithClients(names.filter((other) => other !== name));
      expect(withAllClients.files).toContain(`src/http/clients/${CLIENTS[name]}.ts`);
      expect(others.files).not.toContain(`src/http/clients/${CLIENTS[name]}.ts`);
      const share = withAllClients.code.length - others.code.length;
      expect([name, Math.max(share, MAX_CLIENT_CHARS)]).toEqual([name, MAX_CLIENT_CHARS]);
    }
  });

  test("carries tools of clients only where they are allowed", async () => {
    const allowed = await bundleWithClients(Object.keys(CLIENTS), { clientTools: true });
    expect(withAllClients.files).not.toContain(CLIENT_TOOLS_FILE);
    expect(allowed.files).toContain(CLIENT_TOOLS_FILE);
    const share = allowed.code.length - withAllClients.code.length;
    expect(share).toBeLessThanOrEqual(MAX_CLIENT_CHARS);
  });

  test("carries replays only where they are named", async () => {
    const named = await bundleWith("replay");
    const ofReplay = /^src\/(?:loop\/replay|http\/runs\/replay)/;
    expect(named.files).toContain("src/loop/replay/run.ts");
    expect(whole.files.filter((file) => ofReplay.test(file))).toEqual([]);
  });

  test("carries traces only where they are named", async () => {
    const named = await bundleWith("traces");
    const ofTraces = /^src\/(?:telemetry\/traces|adapters\/telemetry)/;
    expect(named.files.filter((file) => ofTraces.test(file)).length).toBeGreaterThan(4);
    expect(whole.files.filter((file) => ofTraces.test(file))).toEqual([]);
    expect(named.compressedBytes - whole.compressedBytes).toBeLessThanOrEqual(MAX_TRACES_BYTES);
  });

  test("carries neither GamePlan nor workspaces where it does not name them", async () => {
    const ofWorkspaces = /^(?:apps\/gameplan|src\/workspace|durable-objects\/workspace)\//;
    const base = await bundleWithoutGamePlan();
    expect(whole.files.filter((file) => ofWorkspaces.test(file)).length).toBeGreaterThan(60);
    expect(base.files.filter((file) => ofWorkspaces.test(file))).toEqual([]);
    expect(base.compressedBytes).toBeLessThan(whole.compressedBytes - 20_000);
  });

  test("holds nothing of the package for tests", () => {
    expect(whole.files).toContain("src/runner/tool-runner.ts");
    expect(whole.files.filter((file) => file.startsWith("src/testing/"))).toEqual([]);
  });

  test("holds no code of the packages whose types it uses", () => {
    const ofProviders = /node_modules\/(?:openai|@anthropic-ai)\//;
    expect(whole.files.filter((file) => ofProviders.test(file))).toEqual([]);
  });
});

test("interlock-edge/client weighs at most 6 KiB, and holds nothing of the Worker", async () => {
  const root = join(import.meta.dirname, "../..");
  const bundle = await build({
    absWorkingDir: root,
    entryPoints: ["src/client/client.ts"],
    bundle: true,
    minify: true,
    format: "esm",
    write: false,
    metafile: true,
  });
  const [file] = bundle.outputFiles;
  expect(gzipSync(file?.contents ?? "", { level: 9 }).byteLength).toBeLessThanOrEqual(6 * 1024);
  const others = Object.keys(bundle.metafile.inputs).filter(
    (input) => !/^src\/(?:client|protocol|wire\/openai-inbound\/event-line-reader)/.test(input),
  );
  expect(others).toEqual([]);
});
