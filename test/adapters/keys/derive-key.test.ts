import { describe, expect, test } from "vitest";
import { toHex } from "../../../src/protocol/text/hex.ts";
import { deriveKey } from "../../../src/adapters/keys/derive-key.ts";
import { createEmbedTokens } from "../../../src/adapters/identity/embed-tokens.ts";
import { createApprovalSigner } from "../../../src/adapters/keys/jose-approval-signer.ts";

/** The tokens below were signed under it by an older release. */
const rootSecret = "the secret of an older release, 32+";

test("an approval token of an older release is still read", async () => {
  const signed =
    "eyJhbGciOiJIUzI1NiIsInR5cCI6ImFwcHJvdmFsK2p3cyJ9.eyJqdGkiOiJ4In0." +
    "3EDI-jKFOAmrYqO5ZjX12YMHqi14Yw1g0OVko5_o4io";
  expect(await createApprovalSigner(rootSecret).read(signed)).toEqual({ jti: "x" });
});

describe("an embed token of an older release", () => {
  const tokens = createEmbedTokens({
    rootSecret,
    clock: { nowMs: () => 1_780_000_000_000, schedule: () => () => undefined },
    randomId: () => "unused",
  });

  test("is still accepted", async () => {
    const token =
      "eyJhbGciOiJIUzI1NiIsInR5cCI6ImVtYmVkK2p3dCJ9.eyJpc3MiOiJpbnRlcmxvY2siLCJhdWQiOiJpbnRlcmxvY" +
      "2stZW1iZWQiLCJzdWIiOiJ1c2VyOmFubiIsImp0aSI6ImUyIiwiaWF0IjoxNzgwMDAwMDAwLCJleHAiOjE3ODAwMDA" +
      "5MDAsInRlbmFudCI6ImFjbWUiLCJtaW50ZXIiOiJzZXJ2aWNlOnNob3AiLCJzY29wZXMiOlsiY2hhdCJdLCJvcmlna" +
      "W4iOiJodHRwczovL3Nob3AuZXhhbXBsZSIsInRvb2xJZHMiOlsiY29yZV9fZ2V0X2N1cnJlbnRfdGltZSJdfQ.DlZa" +
      "FGL0INXCerCcsQpqk00ANWYpQpoUv6iG_4ltPGE";
    expect(await tokens.verify(token)).toMatchObject({
      ok: true,
      value: {
        tenantId: "acme",
        actorId: "user:ann",
        embed: { id: "e2", minterId: "service:shop" },
      },
    });
  });

  test("is refused when it names no minter", async () => {
    const token =
      "eyJhbGciOiJIUzI1NiIsInR5cCI6ImVtYmVkK2p3dCJ9.eyJpc3MiOiJpbnRlcmxvY2siLCJhdWQiOiJpbnRlcmxvY" +
      "2stZW1iZWQiLCJzdWIiOiJ1c2VyOmFubiIsImp0aSI6ImUxIiwiaWF0IjoxNzgwMDAwMDAwLCJleHAiOjE3ODAwMDA" +
      "5MDAsInRlbmFudCI6ImFjbWUiLCJzY29wZXMiOlsiY2hhdCJdLCJvcmlnaW4iOiJodHRwczovL3Nob3AuZXhhbXBsZ" +
      "SIsInRvb2xJZHMiOlsiY29yZV9fZ2V0X2N1cnJlbnRfdGltZSJdfQ.7yYuMgIdbZ736y_RazkXqNOoQn38B3NBB3q-" +
      "58fGxrU";
    expect(await tokens.verify(token)).toMatchObject({
      ok: false,
      failure: { code: "invalid_token" },
    });
  });
});

test("each label has its own key", async () => {
  const labels = ["approval-token", "embed-token", "cursor"] as const;
  const keys = await Promise.all(labels.map((label) => deriveKey(rootSecret, label)));
  expect(new Set(keys.map(toHex)).size).toBe(labels.length);
  expect(await deriveKey(`${rootSecret}.`, "cursor")).not.toEqual(keys[2]);
});
