import { expect, test } from "vitest";
import { listRoutes } from "../../scripts/openapi/all-routes.ts";
import { PROBLEMS } from "../../src/http/request/problem-codes.ts";
import { rowsOf } from "./table-rows.ts";

/** The page names a parameter by its meaning, a route by the field that holds it. */
const withoutNames = (route: string): string => route.replaceAll(/:\w+(?=\/| )/g, ":");

/** Addresses without a scope: they serve public files, and the health of the Worker. */
const isPublic = (scopes: string): boolean => scopes === "";

test("docs/http.md lists every route with its scope", () => {
  const listed = rowsOf("docs/http.md", "method and path").flatMap((row) => {
    const [route = "", scopes = ""] = row.split(" | ");
    if (isPublic(scopes)) return [];
    const words = route.split(/,? /);
    const methods = words.filter((word) => !word.startsWith("/"));
    const needed = scopes.split(", ");
    return words
      .filter((word) => word.startsWith("/"))
      .flatMap((path) =>
        methods.map((method, at) => `${method} ${path} ${needed[at] ?? needed.at(-1)}`),
      );
  });
  const registered = listRoutes().map(
    ({ method, path, route }) => `${method} ${path} ${route.scope}`,
  );
  expect(listed.map(withoutNames).toSorted()).toEqual(registered.map(withoutNames).toSorted());
});

test("docs/http.md lists every code of a refusal beside its status", () => {
  const listed = rowsOf("docs/http.md", "status [|] codes").flatMap((row) => {
    const [status = "", codes = ""] = row.split(" | ");
    // Parentheses explain a code, and name members of its answer.
    const alone = codes.replaceAll(/\([^)]*\)/g, "");
    return [...alone.matchAll(/`(\w+)`/g)].map(([, code]) => `${status} ${code}`);
  });
  const known = Object.entries(PROBLEMS).map(([code, { status }]) => `${status} ${code}`);
  expect(listed.toSorted()).toEqual(known.toSorted());
});
