import type { Mutant } from "./mutant.ts";

/** What keeps strangers out, pages within what they were given, and runs with whose they are. */
export const IDENTITY: readonly Mutant[] = [
  {
    name: "a fetch of keys that never returns counts as running for good",
    file: "src/adapters/identity/jwks-keys.ts",
    from: "!this.#hasReturned && this.#sinceFetchMs() < TIMEOUT_MS",
    to: "!this.#hasReturned",
    test: {
      file: "test/adapters/identity/jwks-keys.test.ts",
      name: "a caller who leaves while the keys are fetched keeps no revoked key valid",
    },
  },
  {
    name: "the fetch of keys ends with the caller who asked first",
    file: "src/adapters/identity/jwks-keys.ts",
    from: "    this.#ports.keepAlive(reading);",
    to: "",
    test: {
      file: "test/e2e/leave-during-keys.node.test.ts",
      name: "a caller who asks for the keys first and leaves keeps them from nobody",
    },
  },
  {
    name: "a published record answers embed tokens of every assistant",
    file: "src/http/runs/request-key.ts",
    from: "const record = embed\n    ? undefined\n    : await",
    to: "const record = embed && !embed\n    ? undefined\n    : await",
    test: {
      file: "test/http/assistant-pages.test.ts",
      name: "a page gets no run of another assistant under the idempotency key of that run",
    },
  },
  {
    name: "a token needs no end",
    file: "src/adapters/identity/jwt-authenticator.ts",
    from: "Number.isFinite(payload.exp) && ",
    to: "",
    test: { file: "test/http/identity-attacks.test.ts", name: "refuses a token without exp" },
  },
  {
    name: "a token may be for others",
    file: "src/adapters/identity/jwt-authenticator.ts",
    from: "    audience,\n    algorithms",
    to: "    algorithms",
    test: {
      file: "test/http/identity-attacks.test.ts",
      name: "refuses a token for another audience",
    },
  },
  {
    name: "a token may be of others",
    file: "src/adapters/identity/jwt-authenticator.ts",
    from: "    issuer,\n    audience",
    to: "    audience",
    test: { file: "test/http/identity-attacks.test.ts", name: "refuses a token of another issuer" },
  },
  {
    name: "a token of any type counts",
    file: "src/adapters/identity/jwt-authenticator.ts",
    from: " || !TYPES.has(protectedHeader.typ)",
    to: "",
    test: {
      file: "test/http/identity-attacks.test.ts",
      name: "refuses a token with a type of another kind of token",
    },
  },
  {
    name: "a critical extension is overlooked",
    file: "src/adapters/identity/jwt-authenticator.ts",
    from: "protectedHeader.crit !== undefined || ",
    to: "",
    test: {
      file: "test/http/identity-attacks.test.ts",
      name: "refuses a token with a critical extension that a library knows",
    },
  },
  {
    name: "a token of the future counts",
    file: "src/adapters/identity/jwt-authenticator.ts",
    from: " && (payload.iat ?? 0) <= latest",
    to: "",
    test: {
      file: "test/http/identity-attacks.test.ts",
      name: "refuses a token that was issued in the future",
    },
  },
  {
    name: "a chain of actors counts",
    file: "src/protocol/identity/token-claims.ts",
    from: "  act: v.optional(v.undefined()),\n",
    to: "",
    test: {
      file: "test/http/identity-attacks.test.ts",
      name: "refuses a token whose actor acts for another",
    },
  },
  {
    name: "a token chooses its algorithm",
    file: "src/adapters/identity/jwt-authenticator.ts",
    from: "    algorithms: [...algorithms],\n",
    to: "",
    test: {
      file: "test/http/identity.test.ts",
      name: "sign with ES256 where the deployment says so",
    },
  },
  {
    name: "an actor id may be masked in records",
    file: "src/protocol/identity/api-token.ts",
    from: "  v.check((id) => findSecret(id) === undefined),\n",
    to: "",
    test: {
      file: "test/http/identity-attacks.test.ts",
      name: "refuses a token whose subject would be masked as a key",
    },
  },
  {
    name: "an actor id may hold what addresses decode",
    file: "src/protocol/identity/api-token.ts",
    from: "[\\w.@|+:/=~#-]",
    to: "[\\w.@|+:/=~#%-]",
    test: {
      file: "test/http/identity-attacks.test.ts",
      name: "refuses a token whose subject is half decoded",
    },
  },
  {
    name: "a group that is called like a role gives the role",
    file: "src/protocol/identity/token-claims.ts",
    from: "roles: sound([...roles,",
    to: "roles: sound([...all,",
    test: {
      file: "test/http/identity.test.ts",
      name: "give the roles of the map, and never a role or scope of their own name",
    },
  },
  {
    name: "a long token is verified",
    file: "src/adapters/identity/bearer-authenticator.ts",
    from: 'if (token.length > MAX_JWT_CHARS) return fail({ code: "invalid_token", reason: TOO_LONG });',
    to: "",
    test: {
      file: "test/http/identity-attacks.test.ts",
      name: "a sound token that is too long is refused before anything is verified",
    },
  },
  {
    name: "each token asks for keys",
    file: "src/adapters/identity/jwks-keys.ts",
    from: "if (this.#sinceFetchMs() < coolDownMs) return;",
    to: "",
    test: {
      file: "test/http/identity.test.ts",
      name: "unknown key ids do not make it be asked again and again",
    },
  },
  {
    name: "concurrent requests fetch the keys separately",
    file: "src/adapters/identity/jwks-keys.ts",
    from: "await sleep(clock, LOOK_EVERY_MS);",
    to: "break;",
    test: {
      file: "test/http/identity.test.ts",
      name: "are asked for once for many requests at a time",
    },
  },
  {
    name: "an issuer that is away makes tokens invalid",
    file: "src/adapters/identity/jwt-authenticator.ts",
    from: 'if (cause instanceof KeysUnavailable) return fail({ code: "identity_unavailable" });',
    to: "",
    test: {
      file: "test/http/identity.test.ts",
      name: "stay valid while it is unreachable, and no new key is accepted",
    },
  },
  {
    name: "pages' tokens are signed under the secret itself",
    file: "src/adapters/identity/embed-tokens.ts",
    from: 'deriveKey(ports.rootSecret, "embed-token")',
    to: "Promise.resolve(new TextEncoder().encode(ports.rootSecret))",
    test: {
      file: "test/http/identity-attacks.test.ts",
      name: "a token that claims to be an embed token is refused under every other key",
    },
  },
  {
    name: "a key of the older secret starts a second run",
    file: "src/http/runs/request-key.ts",
    from: 'return answer.kind === "unknown" ? undefined : runId;',
    to: "return answer ? undefined : runId;",
    test: {
      file: "test/http/request-key.test.ts",
      name: "a request that is repeated after it gets the same run, and nothing runs twice",
    },
  },
  {
    name: "any run id counts during a rotation",
    file: "src/adapters/run/hmac-run-ids.ts",
    from: "if (sameBytes(utf8(mac), utf8(expected))) return sign;",
    to: "if (older || sameBytes(utf8(mac), utf8(expected))) return sign;",
    test: {
      file: "test/http/request-key.test.ts",
      name: "the older secret finds its runs, and the new one names those that begin",
    },
  },
  {
    name: "a service gives any role to a page",
    file: "src/http/embed/embed-tokens.ts",
    from: "const refused = roles.find((role) => !given.has(role));",
    to: 'const refused = given.has("") ? "" : undefined;',
    test: {
      file: "test/http/page-token-attacks.test.ts",
      name: "a service gives a role if its policy allows it: a policy that gives the service no roles",
    },
  },
  {
    name: "a role for other people is given to everybody",
    file: "src/http/embed/embed-tokens.ts",
    from: "const given = new Set(fitting.flatMap((entry) => entry.roles));",
    to: "const given = new Set(entries.flatMap((entry) => entry.roles));",
    test: {
      file: "test/http/page-token-attacks.test.ts",
      name: "a service gives a role if its policy allows it: a policy that gives it the role for other people",
    },
  },
  {
    name: "a person passes on roles that they lack",
    file: "src/http/embed/embed-tokens.ts",
    from: "const lacking = roles.find((role) => !minter.roles.includes(role));",
    to: "const lacking = roles.find(() => false);",
    test: {
      file: "test/http/page-token-attacks.test.ts",
      name: "a person passes on the roles that they have, and no others",
    },
  },
  {
    name: "a token for a workspace of others is minted",
    file: "src/http/embed/unusable-token.ts",
    from: "if (workspaceId !== undefined && !isMember(policy, workspaceId, person)) {",
    to: "if (false) {",
    test: {
      file: "test/http/workspace-attacks.test.ts",
      name: "that lacks the role of a member is not minted",
    },
  },
  {
    name: "an embed token counts everywhere",
    file: "src/http/request/cors.ts",
    from: "if (!isBound) return",
    to: "if (false as boolean) return",
    test: { file: "test/http/embed-token-use.test.ts", name: "is refused without an origin" },
  },
  {
    name: "a page's runs use all tools",
    file: "src/protocol/policy/narrow-run.ts",
    from: "meet([named.toolIds, embed?.toolIds, assistant?.toolIds])",
    to: "meet([named.toolIds, assistant?.toolIds])",
    test: {
      file: "test/http/embed-token-use.test.ts",
      name: "shows and uses the tools that it was given, and no others",
    },
  },
  {
    name: "a page asks for other tools",
    file: "src/http/claim/read-allowed.ts",
    from: "narrowRun({ embed, assistant: assistant?.document })",
    to: "narrowRun({ assistant: assistant?.document })",
    test: {
      file: "test/http/embed-token-use.test.ts",
      name: "shows and uses the tools that it was given, and no others",
    },
  },
  {
    name: "a page is shown all tools",
    file: "src/http/tenant/tools.ts",
    from: "return narrowPolicy(policy, embed?.toolIds)",
    to: "return policy",
    test: {
      file: "test/http/embed-token-use.test.ts",
      name: "shows and uses the tools that it was given, and no others",
    },
  },
  {
    name: "a page's limits are overlooked",
    file: "src/protocol/policy/narrow-run.ts",
    from: "lowerAnswers(embed?.budgets, assistant?.settings)",
    to: "lowerAnswers(undefined, assistant?.settings)",
    test: {
      file: "test/http/embed-token-use.test.ts",
      name: "lowers the limits of its runs and raises none",
    },
  },
  {
    name: "a server hands on more than it holds",
    file: "src/http/embed/embed-tokens.ts",
    from: "if (lacking)",
    to: "if (lacking && false)",
    test: {
      file: "test/http/embed-tokens.test.ts",
      name: "not with a scope that it does not hold itself",
    },
  },
  {
    name: "a token for a page that policy does not admit",
    file: "src/http/embed/embed-tokens.ts",
    from: "if (!policy.origins.includes(origin)) {",
    to: "if (false as boolean) {",
    test: {
      file: "test/http/embed-tokens.test.ts",
      name: "not for an origin that its policy does not admit",
    },
  },
  {
    name: "a token for tools that policy does not offer",
    file: "src/http/embed/embed-tokens.ts",
    from: "if (errors.length > 0)",
    to: "if (errors.length > 99)",
    test: {
      file: "test/http/embed-tokens.test.ts",
      name: "not for the tool core__nothing, which its policy does not offer",
    },
  },
  {
    name: "a page sees its person's other runs",
    file: "src/protocol/identity/viewer.ts",
    from: "  if (viewer.origin !== undefined && !isOfPage(run, viewer)) return false;\n",
    to: "",
    test: {
      file: "test/http/embed-token-use.test.ts",
      name: "does not reach a run that its person began with more authority",
    },
  },
  {
    name: "a page answers its person's other questions",
    file: "src/run/visibility.ts",
    from: "isKept && viewer.origin === undefined",
    to: "isKept",
    test: {
      file: "test/http/embed-token-use.test.ts",
      name: "decides approvals of its own runs only, not of its person's other runs",
    },
  },
  {
    name: "one key for a person and their pages",
    file: "src/adapters/run/hmac-run-ids.ts",
    from: "subjectId, origin, requestKey];",
    to: 'subjectId, "", requestKey]; void origin;',
    test: {
      file: "test/adapters/run/hmac-run-ids.test.ts",
      name: "another page names another run, by the nonce alone",
    },
  },
  {
    name: "a page of any origin is admitted",
    file: "src/http/request/cors.ts",
    from: "return policy.origins.includes(origin) ? ok(origin)",
    to: "return policy ? ok(origin)",
    test: {
      file: "test/http/browsers.test.ts",
      name: "of an origin that another tenant admits is refused",
    },
  },
  {
    name: "a preflight of any origin passes",
    file: "src/http/request/cors.ts",
    from: "if (!isWebOrigin(origin) || !(await services.origins.isListed(origin))) {",
    to: "if (false as boolean) {",
    test: {
      file: "test/http/browsers.test.ts",
      name: "of an evil one is refused and learns nothing",
    },
  },
  {
    name: "every page reads a refused token",
    file: "src/http/request/cors.ts",
    from: "if (isListed) return",
    to: "if (origin) return",
    test: {
      file: "test/http/browsers.test.ts",
      name: "learns that its token is refused only if some tenant admits the origin",
    },
  },
  {
    name: "an origin stays in the index",
    file: "src/adapters/policy/kv-policy-publisher.ts",
    from: 'return isAdmitted ? put(key, "") : succeeds(kv.delete(key));',
    to: 'return isAdmitted ? put(key, "") : Promise.resolve(true);',
    test: {
      file: "test/http/browsers.test.ts",
      name: "follows the policies: a new one admits the origin, the next one removes it",
    },
  },
  {
    name: "a policy takes wildcards",
    file: "src/protocol/identity/web-origin.ts",
    from: " || !HOST.test(hostname)",
    to: "",
    test: {
      file: "test/http/browsers.test.ts",
      name: 'a policy takes no origin like "https://*.hosted.example"',
    },
  },
  {
    name: "a policy takes what is no exact origin",
    file: "src/protocol/identity/web-origin.ts",
    from: "origin !== text || ",
    to: "",
    test: {
      file: "test/http/browsers.test.ts",
      name: 'a policy takes no origin like "https://app.hosted.example:443"',
    },
  },
  {
    name: "callers are not counted",
    file: "src/http/request/authorise.ts",
    from: "await limitCaller(principal, services)",
    to: "undefined as Response | undefined",
    test: {
      file: "test/http/rate-limits.test.ts",
      name: "a caller over its limit gets a time to retry, and no other caller does",
    },
  },
  {
    name: "strangers are not counted",
    file: "src/http/request/authorise.ts",
    from: "return tooMany ?? problem",
    to: "return problem",
    test: {
      file: "test/http/rate-limits.test.ts",
      name: "an address that brings no token that is known is told so too, and those that do are not counted",
    },
  },
  {
    name: "refused preflights are not counted",
    file: "src/http/request/cors.ts",
    from: "(await limitAddress(request, services)) ?? ",
    to: "",
    test: {
      file: "test/http/rate-limits.test.ts",
      name: "preflights that are refused count against their address as well",
    },
  },
  {
    name: "everybody sees every run",
    file: "src/protocol/identity/viewer.ts",
    from: "return isOwn(run, viewer) || (viewer.seesAll && run.tenantId === viewer.tenantId);",
    to: "return true;",
    test: {
      file: "test/http/access.test.ts",
      name: "answers a colleague's run exactly as an unknown one, on every address",
    },
  },
  {
    name: "everybody stops every run",
    file: "src/protocol/identity/viewer.ts",
    from: "return isOwn(run, viewer) || (viewer.operates && run.tenantId === viewer.tenantId);",
    to: "return true;",
    test: {
      file: "test/http/access.test.ts",
      name: "a colleague's request to stop a run that goes stops nothing",
    },
  },
  {
    name: "everybody owns every run",
    file: "src/protocol/identity/viewer.ts",
    from: "return isFor || viewer.person === run.actorId;",
    to: "return true;",
    test: {
      file: "test/http/access.test.ts",
      name: "lets an operator stop anybody's run, and not speak in their name",
    },
  },
  {
    name: "an agent sees for one what it did for another",
    file: "src/protocol/identity/viewer.ts",
    from: "person: personOf(principal),",
    to: "person: principal.actorId,",
    test: {
      file: "test/http/identity.test.ts",
      name: "a run belongs to the person an agent acts for, not to its other persons",
    },
  },
  {
    name: "a page's limits raise the policy's",
    file: "src/protocol/policy/narrow.ts",
    from: "Math.min(",
    to: "Math.max(",
    test: {
      file: "test/protocol/policy/narrow.test.ts",
      name: "of two limits the policy's counts when it is lower",
    },
  },
  {
    name: "implied limits are passed",
    file: "src/protocol/policy/narrow.ts",
    from: " ?? implied[key]",
    to: "",
    test: {
      file: "test/protocol/policy/narrow.test.ts",
      name: "of two limits critical calls that policy does not mention stay none",
    },
  },
  {
    name: "a page is not asked for another token",
    file: "src/widget/api-request.ts",
    from: "return renewed === token ? response :",
    to: "return renewed === renewed ? response :",
    test: {
      file: "test/widget/chat/api.test.ts",
      name: "after a rejected token the page is asked for another token once, and the request is repeated",
    },
  },
  {
    name: "every delegate of a person owns the runs of the person",
    file: "src/protocol/identity/viewer.ts",
    from: "return isFor && viewer.actor === run.actorId;",
    to: "return isFor;",
    test: {
      file: "test/http/delegation-attacks.test.ts",
      name: "scribe neither reads nor operates a run that the person began",
    },
  },
  {
    name: "a delegate of one person owns what it began for another",
    file: "src/protocol/identity/viewer.ts",
    from: "return isFor && viewer.actor === run.actorId;",
    to: "return viewer.actor === run.actorId;",
    test: {
      file: "test/http/delegation-attacks.test.ts",
      name: "evesScribe neither reads nor operates a run that the same agent began for another person",
    },
  },
  {
    name: "every delegate of a person sees the approvals of the person",
    file: "src/run/approvals/may-see.ts",
    from: "return record.actorId === actorId && record.requester === personOf(principal);",
    to: "return record.requester === personOf(principal);",
    test: {
      file: "test/http/delegation-attacks.test.ts",
      name: "sees the approvals of the runs that it began for the person, and no others",
    },
  },
  {
    name: "requests of foreign origins are not limited",
    file: "src/http/request/authorise.ts",
    from: "return tooMany ?? origin.failure;",
    to: "return origin.failure;",
    test: {
      file: "test/http/rate-limits.test.ts",
      name: "requests of the foreign origin https://evil.example count against the limit of their caller",
    },
  },
  {
    name: "any page changes who acts in development",
    file: "cli/development/front.ts",
    from: "if (!isSameOrigin(incoming)) return",
    to: "if (!incoming) return",
    test: {
      file: "test/cli/development-server.node.test.ts",
      name: "obeys no page of another origin",
    },
  },
  {
    name: "a request waits for ever when the build under way is refused",
    file: "cli/development/front.ts",
    from: "    if (!refuse(answer, settings)) return;",
    to: "    return;",
    test: {
      file: "test/cli/development-server.node.test.ts",
      name: "a request that waits while a build is refused is answered with the compiler's words",
    },
  },
  {
    name: "the development server admits any host",
    file: "cli/development/admit.ts",
    from: 'HOST.test(headers.host ?? "")',
    to: "(headers.host !== undefined)",
    test: {
      file: "test/cli/development-server.node.test.ts",
      name: 'a request to the host "evil.test" is refused',
    },
  },
  {
    name: "a page on another local port uses the platform's own addresses",
    file: "cli/development/admit.ts",
    from: "!isOfPlatform(url) || isProvenOwn(headers)",
    to: "true",
    test: {
      file: "test/cli/development-server.node.test.ts",
      name: "to a page on another local port",
    },
  },
  {
    name: "the platform's own addresses need no proof of the origin",
    file: "cli/development/admit.ts",
    from: "headers.origin !== undefined || site !== undefined",
    to: "true",
    test: {
      file: "test/cli/development-server.node.test.ts",
      name: "to a simple POST without Origin",
    },
  },
  {
    name: "a client chooses the host that the development server names",
    file: "cli/development/front.ts",
    from: '!name.startsWith("mf-")',
    to: "name",
    test: {
      file: "test/cli/development-server.node.test.ts",
      name: "headers that the platform's server believes are removed",
    },
  },
  {
    name: "a request past the development server is the developer's",
    file: "src/adapters/identity/development-authenticator.ts",
    from: "request.headers.get(DEVELOPER_HEADER) === secret && isLocal(request)",
    to: "isLocal(request)",
    test: {
      file: "test/adapters/identity/development-authenticator.test.ts",
      name: "a request past the development server",
    },
  },
  {
    name: "a retention may be shorter than KV can keep",
    file: "src/env.ts",
    from: "const MIN_KV_SECONDS = 60;",
    to: "const MIN_KV_SECONDS = 1;",
    test: {
      file: "test/env.test.ts",
      name: 'KEY_RETENTION_SECONDS = "59" is refused, and the value is not repeated',
    },
  },
  {
    name: "the Worker's own origin is admitted whatever the policy says",
    file: "src/http/request/cors.ts",
    from: "embed?.origin ?? foreignOrigin(request)",
    to: "foreignOrigin(request)",
    test: {
      file: "test/http/embed-token-use.test.ts",
      name: "is refused from an origin that the policy does not hold, even the Worker's own",
    },
  },
  {
    name: "a person mints for a colleague",
    file: "src/http/embed/embed-tokens.ts",
    from: "minter.actorId === holder && actsInOwnName(minter)",
    to: "actsInOwnName(minter)",
    test: {
      file: "test/http/page-token-attacks.test.ts",
      name: "a person mints for themself only",
    },
  },
  {
    name: "a person who acts for somebody mints",
    file: "src/http/embed/embed-tokens.ts",
    from: "minter.actorId === holder && actsInOwnName(minter)",
    to: "minter.actorId === holder",
    test: {
      file: "test/http/page-token-attacks.test.ts",
      name: "a person who acts for somebody mints for nobody, such as user:deputy",
    },
  },
  {
    name: "a service that acts for somebody mints",
    file: "src/http/embed/embed-tokens.ts",
    from: " && minter.subjectId === undefined",
    to: "",
    test: {
      file: "test/http/embed-tokens.test.ts",
      name: 'proxy, a delegate, asks for ["chat"]: 403',
    },
  },
  {
    name: "a service needs no policy to mint",
    file: "src/http/embed/embed-tokens.ts",
    from: "if (fitting.length === 0)",
    to: "if (false)",
    test: {
      file: "test/http/page-token-attacks.test.ts",
      name: "a policy without embedMinters lets no service mint",
    },
  },
  {
    name: "a service mints for people that its policy does not name",
    file: "src/http/embed/embed-tokens.ts",
    from: "people?.includes(holder) ?? true",
    to: "people === undefined || people.length >= 0",
    test: {
      file: "test/http/page-token-attacks.test.ts",
      name: "a service mints if its policy allows it: a policy that names the service for other people",
    },
  },
  {
    name: "an embed token needs no minter",
    file: "src/adapters/identity/embed-tokens.ts",
    from: "minter: actorId,",
    to: "minter: v.optional(actorId),",
    test: {
      file: "test/adapters/keys/derive-key.test.ts",
      name: "is refused when it names no minter",
    },
  },
  {
    name: "an approval forgets who minted the token of its run",
    file: "src/runner/approval/request.ts",
    from: "...(principal.embed?.minterId && { minterId: principal.embed.minterId }),",
    to: "",
    test: {
      file: "test/http/page-token-attacks.test.ts",
      name: "so the minter does not approve them, and may reject them",
    },
  },
  {
    name: "the minter of a run's token is no requester",
    file: "src/protocol/approval/check-vote.ts",
    from: "[requester, actorId, minterId];",
    to: "[requester, actorId];",
    test: {
      file: "test/http/page-token-attacks.test.ts",
      name: "so a bulk decision of the minter is refused",
    },
  },
  {
    name: "the minter and the person of a token have two votes",
    file: "src/protocol/approval/check-vote.ts",
    from: "foldPerson(isMinter ? requester : id)",
    to: "foldPerson(isMinter ? minterId : id)",
    test: {
      file: "test/http/page-token-attacks.test.ts",
      name: "so the minter and the person of the token have one vote, where requesters vote",
    },
  },
  {
    name: "embed bindings: a page names any connection that a grant has",
    file: "src/http/claim/refuse-unbound.ts",
    from: "embed?.connectionIds?.includes(id) === false",
    to: "embed?.connectionIds?.includes(id) === null",
    test: {
      file: "test/http/embed-bindings.test.ts",
      name: 'cannot be replaced or widened by a page: ["other"]',
    },
  },
  {
    name: "embed bindings: the model of the request wins",
    file: "src/http/claim/refuse-unbound.ts",
    from: "if (model === undefined || model === (embed?.model ?? model)) return undefined;",
    to: "if (model === undefined || model) return undefined; void embed;",
    test: {
      file: "test/http/embed-bindings.test.ts",
      name: "cannot be replaced by a page",
    },
  },
  {
    name: "embed bindings: a token does not keep its connections",
    file: "src/adapters/identity/embed-tokens.ts",
    from: "        ...(connectionIds && { connectionIds }),\n        ...(model !== undefined && { model }),\n        ...(workspaceId",
    to: "        ...(model !== undefined && { model }),\n        ...(workspaceId",
    test: {
      file: "test/http/embed-bindings.test.ts",
      name: "are used by a page that names none",
    },
  },
  {
    name: "the warnings about a policy know the roles of other tenants",
    file: "src/protocol/identity/known-roles.ts",
    from: "person.tenantId === tenantId",
    to: "person.tenantId !== undefined || tenantId",
    test: {
      file: "test/http/policy-warnings.test.ts",
      name: "a policy is stored with a warning about a role of members that only another tenant has",
    },
  },
];
