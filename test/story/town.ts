import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { answerAsStoryModel } from "./story-model.ts";

/**
 * Everything outside the deployment: the model provider, the issuer, and the systems of the tools.
 */
export interface Town {
  readonly url: string;
  /** Effects of the tools, in order. They outlive every killed process. */
  readonly acts: readonly TownAct[];
  /** Signs a person in. */
  sign(who: Citizen): Promise<string>;
  close(): Promise<void>;
}

export interface TownAct {
  readonly tenant: string;
  readonly what: string;
}

export interface Citizen {
  readonly tenant: string;
  readonly sub: string;
  readonly scope: string;
  readonly roles?: readonly string[];
}

export const ISSUER = "https://id.town.example/";
export const AUDIENCE = "interlock";

const FIRST_BALANCE = 900;

/** Starts the town on loopback. */
export async function openTown(): Promise<Town> {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const keys = [{ ...(await exportJWK(publicKey)), kid: "first", alg: "ES256", use: "sig" }];
  const acts = new Map<string, TownAct>();
  const balance = (): number =>
    [...acts.values()].reduce(
      (left, { what }) => left - Number(/^transfer (\d+)/.exec(what)?.[1] ?? 0),
      FIRST_BALANCE,
    );
  const server = createServer((request, response) => {
    const answered = answer(request, response);
    answered.catch(() => response.destroy());
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    switch (request.url ?? "") {
      case "/jwks":
        return json(response, { keys });
      case "/account":
        return json(response, { balance: balance() });
      case "/acts": {
        if (request.method === "GET") return json(response, [...acts.values()]);
        const key = String(request.headers["idempotency-key"]);
        if (!acts.has(key)) acts.set(key, JSON.parse(body) as TownAct);
        return json(response, { balance: balance() });
      }
      default:
        return playModel(body, response);
    }
  }

  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get acts() {
      return [...acts.values()];
    },
    sign: ({ sub, ...claims }) =>
      new SignJWT({ ...claims })
        .setProtectedHeader({ alg: "ES256", kid: "first" })
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setSubject(sub)
        .setExpirationTime("1h")
        .sign(privateKey),
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function json(response: ServerResponse, body: object): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function playModel(body: string, response: ServerResponse): Promise<void> {
  const asked = new Request("http://town.example/v1/chat/completions", { method: "POST", body });
  const said = await answerAsStoryModel(asked);
  response.writeHead(said.status, { "content-type": "text/event-stream" });
  Readable.fromWeb(said.body as never).pipe(response);
}
