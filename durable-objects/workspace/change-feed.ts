import type { Clock } from "../../src/capabilities/system.ts";
import type { FollowRefusal } from "../../src/capabilities/workspace.ts";
import type { WorkspaceObjectPorts } from "../../src/compose/workspaces.ts";
import type { ActorId } from "../../src/protocol/identity/ids.ts";
import { personOf } from "../../src/protocol/identity/principal.ts";
import { fail, ok, type Result } from "../../src/protocol/outcome/result.ts";
import { type Follower, mayFollow } from "../../src/protocol/policy/membership.ts";
import type { WorkspaceAddress } from "../../src/protocol/workspace/address.ts";
import type { WorkspaceChange } from "../../src/workspace/change-list.ts";

/** Unread bytes of one reader. A reader with more is cut off and comes back for the rest. */
const MAX_UNREAD_BYTES = 64 * 1024;
/** Readers of one workspace at a time. */
const MAX_READERS = 128;
/** Readers of one actor at a time, and as many more on the pages of each origin. */
const MAX_READERS_OF_ACTOR = 8;
/** A reader comes back after this time, with a token that is still valid. */
const MAX_OPEN_MS = 300_000;
const HEARTBEAT_AFTER_MS = 15_000;
const TRAILER = "retry: 1000\n\n";

/** What the feed reads of a workspace. */
export interface ChangeSource {
  readonly newestRevision: number;
  changesAfter(revision: number): readonly WorkspaceChange[] | undefined;
  /** Leaves of changes those of which a person may hear. */
  heardBy(
    address: WorkspaceAddress,
    person: ActorId,
    changes: readonly WorkspaceChange[],
  ): readonly WorkspaceChange[];
}

/** Who opens a stream. The address is the workspace that holds the feed. */
export interface FeedReader {
  readonly address: WorkspaceAddress;
  readonly follower: Follower;
}

interface Reader extends FeedReader {
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  /** The newest revision that the reader was sent. */
  sent: number;
  /** Stops the timers of the reader. */
  readonly stop: () => void;
}

/** What the feed needs of its object. */
export type FeedPorts = Pick<WorkspaceObjectPorts, "readPolicy"> & {
  readonly clock: Pick<Clock, "schedule">;
};

/**
 * Streams the changes of a workspace to pages. Contract: a change is sent after its transaction,
 * and the platform holds it back until the transaction is durable.
 * Threat: a member who was removed reads on. So each stream and each change waits for the current
 * policy, and ends when the policy cannot be read: the reader comes back and misses nothing.
 */
export class ChangeFeed {
  readonly #source: ChangeSource;
  readonly #ports: FeedPorts;
  readonly #readers = new Set<Reader>();
  readonly #utf8 = new TextEncoder();
  #waiting: WorkspaceChange[] = [];
  #isSending = false;

  constructor(source: ChangeSource, ports: FeedPorts) {
    this.#source = source;
    this.#ports = ports;
  }

  /** Sends changes. Those that come while the policy is read wait for the next reading. */
  publish(changes: readonly WorkspaceChange[]): void {
    if (this.#readers.size === 0) return;
    this.#waiting.push(...changes);
    if (!this.#isSending) void this.#sendWaiting();
  }

  /** Ends the streams of those who may not follow by the current policy. */
  async recheck(): Promise<void> {
    const [reader] = this.#readers;
    if (!reader) return;
    const { tenantId, workspaceId } = reader.address;
    const policy = await this.#ports.readPolicy(tenantId);
    for (const one of this.#readers) {
      if (!policy || !mayFollow(policy, workspaceId, one.follower)) this.#close(one);
    }
  }

  /** Opens a stream of the changes after a revision; without one, of those that come. */
  async open(
    asked: FeedReader,
    after: number | undefined,
  ): Promise<Result<ReadableStream<Uint8Array>, FollowRefusal>> {
    const { address, follower } = asked;
    const policy = await this.#ports.readPolicy(address.tenantId);
    if (!policy) return fail("policy_unavailable");
    if (!mayFollow(policy, address.workspaceId, follower)) return fail("workspace_not_found");
    if (this.#isFullFor(follower)) return fail("too_many_readers");
    let reader: Reader | undefined;
    const stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          reader = this.#add(asked, controller);
          this.#begin(reader, after);
        },
        cancel: () => {
          if (reader) this.#remove(reader);
        },
      },
      { highWaterMark: MAX_UNREAD_BYTES, size: (chunk) => chunk.byteLength },
    );
    return ok(stream);
  }

  /** Threat: one page, or one person, takes every place of the workspace. */
  #isFullFor({ actorId, page }: Follower): boolean {
    if (this.#readers.size >= MAX_READERS) return true;
    const own = [...this.#readers].filter(({ follower }) => {
      return follower.actorId === actorId && follower.page?.origin === page?.origin;
    });
    return own.length >= MAX_READERS_OF_ACTOR;
  }

  /** Tells a reader to read everything when it names no revision, or one without its successors. */
  #begin(reader: Reader, after: number | undefined): void {
    const { newestRevision: newest } = this.#source;
    reader.sent = newest;
    const missed =
      after === undefined || after > newest ? undefined : this.#source.changesAfter(after);
    if (missed) this.#sendChanges(reader, missed);
    else this.#send(reader, formatEvent("workspace_reset", newest, { revision: newest }));
  }

  async #sendWaiting(): Promise<void> {
    this.#isSending = true;
    while (this.#waiting.length > 0) {
      const changes = this.#waiting;
      this.#waiting = [];
      await this.recheck();
      for (const reader of this.#readers) {
        const added = changes.filter(({ revision }) => revision > reader.sent);
        reader.sent = added.at(-1)?.revision ?? reader.sent;
        this.#sendChanges(reader, added);
      }
    }
    this.#isSending = false;
  }

  #sendChanges(reader: Reader, changes: readonly WorkspaceChange[]): void {
    const { address, follower } = reader;
    const heard = this.#source.heardBy(address, personOf(follower), changes);
    this.#send(reader, heard.map(formatChange).join(""));
  }

  #add(asked: FeedReader, controller: Reader["controller"]): Reader {
    const { clock } = this.#ports;
    let stopBeat: () => void;
    const beat = (): void => {
      stopBeat = clock.schedule(HEARTBEAT_AFTER_MS, () => {
        this.#send(reader, ": still here\n\n");
        if (this.#readers.has(reader)) beat();
      });
    };
    const stopEnd = clock.schedule(MAX_OPEN_MS, () => this.#close(reader));
    const reader: Reader = {
      ...asked,
      controller,
      sent: 0,
      stop: () => {
        stopBeat();
        stopEnd();
      },
    };
    beat();
    this.#readers.add(reader);
    return reader;
  }

  #send(reader: Reader, text: string): void {
    if (text !== "") reader.controller.enqueue(this.#utf8.encode(text));
    if ((reader.controller.desiredSize ?? 0) <= 0) this.#close(reader);
  }

  #close(reader: Reader): void {
    if (!this.#readers.has(reader)) return;
    this.#remove(reader);
    reader.controller.enqueue(this.#utf8.encode(TRAILER));
    reader.controller.close();
  }

  #remove(reader: Reader): void {
    this.#readers.delete(reader);
    reader.stop();
  }
}

function formatChange(change: WorkspaceChange): string {
  const { entity, id, revision } = change;
  return formatEvent("workspace_changed", revision, { entity, id, revision });
}

function formatEvent(type: string, revision: number, data: object): string {
  return `id: ${revision}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}
