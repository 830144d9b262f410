import type { ActorId, TenantId } from "./ids.ts";
import { personOf, type Principal, seesAll } from "./principal.ts";

/** Whose a run is; kept as long as anything is kept of it. */
export interface RunOwner extends Pick<Principal, "tenantId" | "actorId" | "subjectId"> {
  /** The origin of the page that started it, if one did. */
  readonly origin?: string;
}

/** Reads whose a run is, out of the principal that starts it. */
export function ownerOf({ tenantId, actorId, subjectId, embed }: Principal): RunOwner {
  return {
    tenantId,
    actorId,
    ...(subjectId !== undefined && { subjectId }),
    ...(embed && { origin: embed.origin }),
  };
}

/** Who asks a run's object, as far as the object has to know. */
export interface Viewer {
  readonly tenantId: TenantId;
  /** Who makes the request. */
  readonly actor: ActorId;
  /** On whose account the request is made. */
  readonly person: ActorId;
  /** Present for a page's token: the origin that it is bound to. */
  readonly origin?: string;
  /** Runs of everybody in the tenant may be read. */
  readonly seesAll: boolean;
  /** Runs of everybody in the tenant may be stopped and settled. */
  readonly operates: boolean;
}

/** Reads who is asking, out of a principal. */
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
 * Tells whether a run is the viewer's own: started by them or on their behalf. An agent that acts for one
 * person sees nothing of what it did for another. A page sees the runs that pages of its origin started,
 * for others may hold tools that its token was not given.
 */
export function isOwn(run: RunOwner, viewer: Viewer): boolean {
  if (run.tenantId !== viewer.tenantId) return false;
  if (viewer.origin !== undefined && run.origin !== viewer.origin) return false;
  return viewer.person === run.actorId || viewer.person === personOf(run);
}

/**
 * Tells whether the viewer may speak to a run, which acts on it with the authority that it was started with.
 * Threat: whoever acts for a person may use the tools that were delegated to them; a run that the person
 * began holds all of the person's.
 */
export function maySpeak(run: RunOwner, viewer: Viewer): boolean {
  return isOwn(run, viewer) && (viewer.actor === viewer.person || viewer.actor === run.actorId);
}

/** Tells whether the viewer may read a run. */
export function maySee(run: RunOwner, viewer: Viewer): boolean {
  return isOwn(run, viewer) || (viewer.seesAll && run.tenantId === viewer.tenantId);
}

/** Tells whether the viewer may stop a run. */
export function mayStop(run: RunOwner, viewer: Viewer): boolean {
  return isOwn(run, viewer) || (viewer.operates && run.tenantId === viewer.tenantId);
}
