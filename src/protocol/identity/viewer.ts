import { boundAssistant } from "./embed-grant.ts";
import type { ActorId, TenantId } from "./ids.ts";
import { personOf, type Principal, seesAll } from "./principal.ts";

/** The owner of a run; stored as long as anything of the run is stored. */
export interface RunOwner extends Pick<Principal, "tenantId" | "actorId" | "subjectId"> {
  /** The origin of the page that started the run, if a page did. */
  readonly origin?: string;
  /** The assistant of that page. Present with `origin`. */
  readonly assistantId?: string;
}

/** Reads the owner of a run from the principal that starts it. */
export function ownerOf({ tenantId, actorId, subjectId, embed }: Principal): RunOwner {
  return {
    tenantId,
    actorId,
    ...(subjectId !== undefined && { subjectId }),
    ...pageOf(embed),
  };
}

/** Tells whether two owners are the same one. */
export function ownsAs(one: RunOwner, other: RunOwner): boolean {
  return OWNER_FIELDS.every((field) => one[field] === other[field]);
}

const OWNER_FIELDS = ["tenantId", "actorId", "subjectId", "origin", "assistantId"] as const;

/** The viewer that an owner is, without any scope. */
export function viewerOfOwner({
  tenantId,
  actorId,
  subjectId,
  origin,
  assistantId,
}: RunOwner): Viewer {
  return {
    tenantId,
    actor: actorId,
    person: personOf({ actorId, subjectId }),
    ...(origin !== undefined && assistantId !== undefined && { origin, assistantId }),
    seesAll: false,
    operates: false,
  };
}

/** The page of an embed token. */
function pageOf(embed: Principal["embed"]): {
  readonly origin?: string;
  readonly assistantId?: string;
} {
  const assistantId = boundAssistant(embed);
  return embed && assistantId !== undefined ? { origin: embed.origin, assistantId } : {};
}

/** The caller of a run's object, with what the object needs to know. */
export interface Viewer {
  readonly tenantId: TenantId;
  /** The actor who makes the request. */
  readonly actor: ActorId;
  /** The person for whom the request is made. */
  readonly person: ActorId;
  /** Present for an embed token: the origin that the token is bound to. */
  readonly origin?: string;
  /** The assistant that an embed token is bound to. Present with `origin`. */
  readonly assistantId?: string;
  /** May read all runs of the tenant. */
  readonly seesAll: boolean;
  /** May stop all runs of the tenant and resolve their unknown outcomes. */
  readonly operates: boolean;
}

/** Reads the viewer from a principal. */
export function viewerOf(principal: Principal): Viewer {
  const { tenantId, actorId, scopes, embed } = principal;
  return {
    tenantId,
    actor: actorId,
    person: personOf(principal),
    ...pageOf(embed),
    seesAll: seesAll(principal),
    operates: scopes.includes("runs:operate"),
  };
}

/**
 * Tells whether a run belongs to the viewer: the viewer started it, or somebody started it for
 * them. Only owners steer a run, because a run acts on a message with the authority of its start.
 * Threat: an agent may only use what its person delegated to it. It owns the runs that it started
 * for this person: no other run of the person, which may hold more, and no run for somebody else.
 * A page owns only runs that pages of its origin started with its assistant, whatever else their
 * tokens were bound to; docs/security.md names this limit.
 */
export function isOwn(run: RunOwner, viewer: Viewer): boolean {
  if (run.tenantId !== viewer.tenantId) return false;
  if (viewer.origin !== undefined && !isOfPage(run, viewer)) return false;
  const isFor = viewer.person === personOf(run);
  if (viewer.actor !== viewer.person) return isFor && viewer.actor === run.actorId;
  return isFor || viewer.person === run.actorId;
}

function isOfPage(run: RunOwner, { origin, assistantId }: Viewer): boolean {
  return run.origin === origin && run.assistantId === assistantId;
}

/** Tells whether a run is one of the viewer's tenant, for those who may read the audit log. */
export function isOfTenant(run: RunOwner, viewer: Viewer): boolean {
  return run.tenantId === viewer.tenantId;
}

/** Tells whether the viewer may read a run. */
export function maySee(run: RunOwner, viewer: Viewer): boolean {
  return isOwn(run, viewer) || (viewer.seesAll && run.tenantId === viewer.tenantId);
}

/** Tells whether the viewer may stop a run. */
export function mayStop(run: RunOwner, viewer: Viewer): boolean {
  return isOwn(run, viewer) || (viewer.operates && run.tenantId === viewer.tenantId);
}
