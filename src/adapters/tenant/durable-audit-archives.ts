import type { ArchiveMethods, AuditArchives } from "../../capabilities/audit.ts";

/** Keeps segments of audit logs in objects of the tenants' class, each under a random id. */
export function createDurableAuditArchives(tenants: DurableObjectNamespace): AuditArchives {
  return {
    newPlace: () => tenants.newUniqueId().toString(),
    of(place, owner) {
      const object = (): DurableObjectStub & ArchiveMethods =>
        tenants.get(tenants.idFromString(place)) as DurableObjectStub & ArchiveMethods;
      return {
        keep: async (rows) =>
          object()
            .keepArchived(owner, rows)
            .catch(() => false),
        read: (stretch) => object().readArchived(owner, stretch),
        plan: async (query) =>
          object()
            .planArchived(owner, query)
            .catch(() => undefined),
        drop: async () =>
          object()
            .dropArchived(owner)
            .catch(() => false),
      };
    },
  };
}
