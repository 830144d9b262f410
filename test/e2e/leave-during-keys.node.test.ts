import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { expect, test } from "vitest";
import { startDeployment } from "../shared/started-deployment.ts";

const ISSUER = "https://issuer.test/";
const AUDIENCE = "interlock-test";
const CALLERS = { "a token of the list": { tenantId: "acme", actorId: "user:bob", scopes: [] } };

test("a caller who asks for the keys first and leaves keeps them from nobody", async () => {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const key = { ...(await exportJWK(publicKey)), kid: "one", alg: "ES256" };
  let asked = 0;
  const issuer = createServer((_incoming, answer) => {
    asked++;
    // The caller has left by then.
    setTimeout(() => answer.end(JSON.stringify({ keys: [key] })), 500);
  });
  issuer.listen(0, "127.0.0.1");
  await once(issuer, "listening");
  const jwksUrl = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}/jwks`;
  const settings = { issuer: ISSUER, audience: AUDIENCE, algorithms: ["ES256"], jwksUrl };
  await using deployment = await startDeployment(CALLERS, { AUTH: JSON.stringify(settings) });
  const token = await new SignJWT({ tenant: "acme", scope: "tools:read" })
    .setProtectedHeader({ alg: "ES256", kid: "one" })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setSubject("ann")
    .setIssuedAt()
    .setExpirationTime("5m")
    .sign(privateKey);
  const headers = { authorization: `Bearer ${token}` };

  const leaving = request(`${deployment.url}/v1/tools`, { headers, agent: false });
  leaving.on("error", () => undefined);
  leaving.end();
  await once(issuer, "request");
  leaving.socket?.resetAndDestroy();
  const answer = await fetch(`${deployment.url}/v1/tools`, { headers });
  expect([answer.status, asked]).toEqual([200, 1]);
  issuer.closeAllConnections();
  issuer.close();
});
