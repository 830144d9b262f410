import * as v from "valibot";
import { fail, ok, type Result } from "../outcome/result.ts";
import { ACTOR_FORM, actorId, scopeOrRole, tenantId, toActor } from "./api-token.ts";
import type { JwtSettings } from "./jwt-settings.ts";
import type { Principal } from "./principal.ts";

const person = v.pipe(
  v.string(),
  v.transform((name) => toActor(name, "user")),
  actorId,
);
/** The actor who acts for the person (RFC 8693, 4.1). A chain of actors is refused. */
const acting = v.object({
  sub: v.pipe(
    v.string(),
    v.transform((name) => toActor(name, "agent")),
    actorId,
  ),
  act: v.optional(v.undefined()),
});
/** Scopes or roles: a text with spaces, or a list. */
const names = v.pipe(
  v.optional(v.union([v.string(), v.array(v.string())]), []),
  v.transform((claim) => (typeof claim === "string" ? claim.split(" ") : claim)),
);
/** Groups: a list, or the name of one. Such a name may hold spaces. */
const groupNames = v.pipe(
  v.optional(v.union([v.string(), v.array(v.string())]), []),
  v.transform((claim) => [claim].flat()),
);

/** The caller that a token names, and the roles and groups of the token that give them nothing. */
interface Found {
  readonly principal: Principal;
  readonly unknown: readonly string[];
}

/**
 * Reads the caller from the claims of a verified token.
 * Contract: pure. Fails: tells what is wrong with which claim, and repeats nothing of it.
 */
export function readPrincipal(
  payload: { readonly [claim: string]: unknown },
  settings: JwtSettings,
): Result<Found, string> {
  const wrong: string[] = [];
  const read = <T>(name: string, schema: v.GenericSchema<unknown, T>, form: string): T[] => {
    const parsed = v.safeParse(schema, Object.hasOwn(payload, name) ? payload[name] : undefined);
    if (parsed.success) return [parsed.output];
    wrong.push(`has a claim ${name} that is not ${form}`);
    return [];
  };
  const { tenantClaim, subjectClaim, rolesClaim, scopesClaim, groupsClaim, groups = {} } = settings;
  const [tenant] = read(tenantClaim, tenantId, "1 to 64 of A-Z a-z 0-9 _ -");
  const [subject] = read(subjectClaim, person, `${ACTOR_FORM}, or looks like a key`);
  const [actor] = read("act", v.optional(acting), `an object whose sub is ${ACTOR_FORM}`);
  const roles = read(rolesClaim, names, LIST).flat();
  const scopeClaims = scopesClaim === undefined ? ["scope", "scp"] : [scopesClaim];
  const scopes = scopeClaims.flatMap((name) => read(name, names, LIST).flat());
  const held = settings.groups ? read(groupsClaim, groupNames, LIST).flat() : [];
  const all = [...new Set([...roles, ...held])];
  if (tenant === undefined || subject === undefined || wrong.length > 0) {
    return fail(wrong.join(", "));
  }
  const isMapped = (name: string): boolean => Object.hasOwn(groups, name);
  const given = all.flatMap((name) => (isMapped(name) ? (groups[name] ?? []) : []));
  const sound = (list: readonly string[]): readonly string[] => [...new Set(list)].filter(isSound);
  const principal = {
    tenantId: tenant,
    roles: sound([...roles, ...given.flatMap((group) => group.roles)]),
    scopes: sound([...scopes, ...given.flatMap((group) => group.scopes)]),
    ...(actor ? { actorId: actor.sub, subjectId: subject } : { actorId: subject }),
  };
  const isRole = (name: string): boolean => name === "" || (roles.includes(name) && isSound(name));
  return ok({ principal, unknown: all.filter((name) => !isMapped(name) && !isRole(name)) });
}

function isSound(name: string): boolean {
  return v.is(scopeOrRole, name);
}

const LIST = "a text, or a list of texts";
