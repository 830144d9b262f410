/** What a cursor belongs to: tenant, list, viewer and filters; it is of no use anywhere else. */
export type CursorScope = readonly (string | number | boolean | null)[];

/**
 * Names a place in a list for a client to come back with.
 * Contract: `read` answers undefined for whatever was not issued for the very same scope; it touches no storage.
 */
export interface Cursors {
  issue(place: string, scope: CursorScope): Promise<string>;
  read(cursor: string, scope: CursorScope): Promise<string | undefined>;
}
