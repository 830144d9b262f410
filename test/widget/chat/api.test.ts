import { expect, test } from "vitest";
import { createChatApi } from "../../../src/widget/chat/api.ts";

/** A server that takes one token, in front of a page that gives these in turn. */
function stage(accepted: string, given: readonly (string | undefined)[]) {
  const sent: (string | null)[] = [];
  let asked = 0;
  const api = createChatApi({
    baseUrl: "https://interlock.test/",
    token: async () => given[Math.min(asked++, given.length - 1)],
    fetch: async (_input, init) => {
      const authorization = new Headers(init?.headers).get("authorization");
      sent.push(authorization);
      return authorization === `Bearer ${accepted}`
        ? Response.json({})
        : Response.json({ code: "invalid_token" }, { status: 401 });
    },
  });
  return { api, sent };
}

test("a page whose token was refused is asked for another one, once, and the request is sent again", async () => {
  const { api, sent } = stage("new", ["old", "new"]);
  expect(await api.cancel("run")).toMatchObject({ ok: true });
  expect(sent).toEqual(["Bearer old", "Bearer new"]);
});

test("a token that is refused as well is not followed by a third", async () => {
  const { api, sent } = stage("never", ["old", "new", "newest"]);
  expect(await api.cancel("run")).toMatchObject({ failure: { code: "token_needed" } });
  expect(sent).toEqual(["Bearer old", "Bearer new"]);
});

test("the same token is not sent again", async () => {
  const { api, sent } = stage("never", ["old"]);
  expect(await api.cancel("run")).toMatchObject({ failure: { code: "token_needed" } });
  expect(sent).toEqual(["Bearer old"]);
});

test("a page that has no token sends none", async () => {
  const { api, sent } = stage("x", [undefined]);
  expect(await api.cancel("run")).toMatchObject({ failure: { code: "token_needed" } });
  expect(sent).toEqual([null]);
});
