import { expect, test } from "vitest";
import { createChatApi } from "../../../../src/widget/chat/stream/api.ts";

/** A server that accepts one token, and a page that provides the given tokens in turn. */
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

test("after a rejected token the page is asked for another token once, and the request is repeated", async () => {
  const { api, sent } = stage("new", ["old", "new"]);
  expect(await api.cancel("run")).toMatchObject({ ok: true });
  expect(sent).toEqual(["Bearer old", "Bearer new"]);
});

test("after a second rejected token the page is not asked for a third", async () => {
  const { api, sent } = stage("never", ["old", "new", "newest"]);
  expect(await api.cancel("run")).toMatchObject({ failure: { code: "token_needed" } });
  expect(sent).toEqual(["Bearer old", "Bearer new"]);
});

test("the request is not repeated with the same token", async () => {
  const { api, sent } = stage("never", ["old"]);
  expect(await api.cancel("run")).toMatchObject({ failure: { code: "token_needed" } });
  expect(sent).toEqual(["Bearer old"]);
});

test("a page without a token sends no token", async () => {
  const { api, sent } = stage("x", [undefined]);
  expect(await api.cancel("run")).toMatchObject({ failure: { code: "token_needed" } });
  expect(sent).toEqual([null]);
});
