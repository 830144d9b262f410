import { spawn } from "node:child_process";
import { createReadStream, existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");

/** A package registry on loopback that has what this repository has installed, and nothing else. */
export interface LocalRegistry {
  readonly url: string;
  close: () => void;
}

interface Installed {
  readonly folder: string;
  readonly integrity: string | undefined;
}

/**
 * Starts the registry. A package comes from npm's own cache where that still has it, else from the
 * installed folder.
 */
export async function startLocalRegistry(npmCache: string): Promise<LocalRegistry> {
  const packages = readInstalled();
  const server = createServer((request, response) => {
    const [, path = ""] = /^\/([^?]*)/.exec(request.url ?? "") ?? [];
    const [name = "", version] = decodeURIComponent(path).split("/-/");
    const versions = packages.get(name);
    if (!versions) {
      response.writeHead(404, { "content-type": "application/json" }).end("{}");
    } else if (version === undefined) {
      const document = describe(name, versions, `http://${request.headers.host}`);
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(document));
    } else sendTarball(response, versions.get(version), npmCache);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Reads the lock file: every installed version of every package. */
function readInstalled(): ReadonlyMap<string, ReadonlyMap<string, Installed>> {
  const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, { version?: string; integrity?: string }>>;
  };
  const packages = new Map<string, Map<string, Installed>>();
  for (const [path, { version, integrity }] of Object.entries(lock.packages)) {
    const name = /.*node_modules\/(.+)$/.exec(path)?.[1];
    const folder = join(ROOT, path);
    if (name === undefined || version === undefined || !existsSync(folder)) continue;
    const versions = packages.get(name) ?? new Map<string, Installed>();
    packages.set(name, versions.set(version, { folder, integrity }));
  }
  return packages;
}

function describe(
  name: string,
  versions: ReadonlyMap<string, Installed>,
  origin: string,
): Record<string, unknown> {
  const manifests = [...versions].map(([version, { folder }]) => {
    const text = readFileSync(join(folder, "package.json"), "utf8");
    const manifest = JSON.parse(text) as Record<string, unknown>;
    const tarball = `${origin}/${name}/-/${version}`;
    return [version, { ...manifest, dist: { tarball } }] as const;
  });
  const latest = [...versions.keys()].at(-1);
  return { name, "dist-tags": { latest }, versions: Object.fromEntries(manifests) };
}

function sendTarball(
  response: ServerResponse,
  installed: Installed | undefined,
  npmCache: string,
): void {
  if (!installed) return void response.writeHead(404).end();
  response.writeHead(200, { "content-type": "application/octet-stream" });
  const cached = installed.integrity && cachedFile(npmCache, installed.integrity);
  if (cached && existsSync(cached)) return void createReadStream(cached).pipe(response);
  // Packages inside the package are packages of their own.
  const files = readdirSync(installed.folder).filter((file) => file !== "node_modules");
  const flags = ["-C", installed.folder, "--transform=s,^,package/,", "-cz", ...files];
  spawn("tar", flags, { stdio: ["ignore", "pipe", "inherit"] }).stdout.pipe(response);
}

/** Where npm's cache holds the content with this hash. */
function cachedFile(npmCache: string, integrity: string): string | undefined {
  const [, digest] = /^sha512-(.+)$/.exec(integrity) ?? [];
  if (digest === undefined) return undefined;
  const hex = Buffer.from(digest, "base64").toString("hex");
  const parts = [hex.slice(0, 2), hex.slice(2, 4), hex.slice(4)];
  return join(npmCache, "_cacache/content-v2/sha512", ...parts);
}
