import type { ActorId, TenantId } from "./ids.ts";
import { personOf, type Principal, seesAll } from "./principal.ts";

/** The owner of a run; stored as long as anything of the run is stored. */
export interface RunOwner extends Pick<Principal, "tenantId" | "actorId" | "subjectId"> {
  /** The origin of the page that started the run, if a page did. */
  readonly origin?: string;
}

/** Reads the owner of a run from the principal that starts it. */
export function ownerOf({ tenantId, actorId, subjectId, embed }: Principal): RunOwner {
  return {
    tenantId,
    actorId,
    ...(subjectId !== undefined && { subjectId }),
    ...(embed && { origin: embed.origin }),
  };
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
    ...(embed && { origin: embed.origin }),
    seesAll: seesAll(principal),
    operates: scopes.includes("runs:operate"),
  };
}

/**
 * Tells whether a run belongs to the viewer: the viewer started it, or somebody started it for
 * them. Only owners steer a run, because a run acts on a message with the authority of its start.
 * Threat: an agent may only use what its person delegated to it. It owns the runs that it started
 * for this person: no other run of the person, which may hold more, and no run for somebody else.
 * A page owns only runs that pages of its origin started, because other runs may have tools that
 * its token lacks.
 */
export function isOwn(run: RunOwner, viewer: Viewer): boolean {
  if (run.tenantId !== viewer.tenantId) return false;
  if (viewer.origin !== undefined && run.origin !== viewer.origin) return false;
  const isFor = viewer.person === personOf(run);
  if (viewer.actor !== viewer.person) return isFor && viewer.actor === run.actorId;
  return isFor || viewer.person === run.actorId;
}

/** Tells whether the viewer may read a run. */
export function maySee(run: RunOwner, viewer: Viewer): boolean {
  return isOwn(run, viewer) || (viewer.seesAll && run.tenantId === viewer.tenantId);
}

/** Tells whether the viewer may stop a run. */
export function mayStop(run: RunOwner, viewer: Viewer): boolean {
  return isOwn(run, viewer) || (viewer.operates && run.tenantId === viewer.tenantId);
}
