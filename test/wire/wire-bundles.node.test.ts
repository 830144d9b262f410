import { beforeAll, describe, expect, test } from "vitest";
import {
  bundleWithClients,
  bundleWithoutWire,
  CLIENTS,
  listedWires,
  type EntryBundle,
} from "../../scripts/wire-bundles.ts";

const MAX_WIRE_BYTES = 4 * 1024;
const MAX_CLIENT_BYTES = 3.5 * 1024;
/** Clients that may weigh more: docs/decisions/2026-11-24-openai-inbound.md says why. */
const HEAVY: readonly (readonly [string, number])[] = [["openAIResponses", 7 * 1024]];

describe("the bundle of a deployment", () => {
  let whole: EntryBundle;
  beforeAll(async () => {
    whole = await bundleWithoutWire();
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
    for (const name of Object.keys(CLIENTS)) {
      const { compressedBytes, files } = await bundleWithClients([name]);
      expect(files).toContain(`src/http/clients/${CLIENTS[name]}.ts`);
      const [, limit = MAX_CLIENT_BYTES] = HEAVY.find(([heavy]) => heavy === name) ?? [];
      expect([name, compressedBytes - without.compressedBytes <= limit]).toEqual([name, true]);
    }
    const all = await bundleWithClients(Object.keys(CLIENTS));
    const mean = (all.compressedBytes - without.compressedBytes) / Object.keys(CLIENTS).length;
    expect(mean).toBeLessThanOrEqual(MAX_CLIENT_BYTES);
  });

  test("holds no code of the packages whose types it uses", () => {
    const ofProviders = /node_modules\/(?:openai|@anthropic-ai)\//;
    expect(whole.files.filter((file) => ofProviders.test(file))).toEqual([]);
  });
});
