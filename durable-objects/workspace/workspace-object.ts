import { DurableObject } from "cloudflare:workers";
import type {
  OperationAnswer,
  OperationCall,
  WorkspaceMethods,
} from "../../src/capabilities/workspace.ts";
import type { ErasedRows, PersonPage, PersonRows } from "../../src/capabilities/people.ts";
import { composeWorkspaceObject } from "../../src/compose/workspaces.ts";
import type { WorkspaceDefinition } from "../../src/contracts/define/define-workspace.ts";
import type { RawEnv } from "../../src/env.ts";
import type { ActorId } from "../../src/protocol/identity/ids.ts";
import type { Follower } from "../../src/protocol/policy/membership.ts";
import type { WorkspaceAddress } from "../../src/protocol/workspace/address.ts";
import { WorkspaceData } from "../../src/workspace/workspace-data.ts";
import { ChangeFeed } from "./change-feed.ts";
import { createDurableDatabase } from "./durable-database.ts";

const STREAM_HEADERS = { "content-type": "text/event-stream", "cache-control": "no-store" };
/** The first look for expired ledger rows. Unit: milliseconds. */
const CLEAN_AFTER_MS = 86_400_000;

/**
 * Holds one workspace of one tenant: the tables of a tool pack, the ledger of its writes and its
 * list of changes.
 * Trust: only the Worker and the runs reach the object. They have checked the membership.
 */
export class WorkspaceObject extends DurableObject<RawEnv> implements WorkspaceMethods {
  readonly #data: WorkspaceData;
  readonly #feed: ChangeFeed;
  #isArmed = false;

  constructor(ctx: DurableObjectState, env: RawEnv, definitions: readonly WorkspaceDefinition[]) {
    super(ctx, env);
    const { clock, readPolicy, ...ports } = composeWorkspaceObject(env);
    this.#data = new WorkspaceData({
      ...ports,
      definitions,
      database: createDurableDatabase(ctx.storage),
      announce: (changes) => this.#feed.publish(changes),
    });
    this.#feed = new ChangeFeed(this.#data, { clock, readPolicy });
  }

  /** Streams the changes after the revision in Last-Event-ID, or answers why it does not. */
  override async fetch({ headers }: Request): Promise<Response> {
    const address = JSON.parse(headers.get("x-address") ?? "") as WorkspaceAddress;
    const follower = JSON.parse(headers.get("x-follower") ?? "") as Follower;
    const after = headers.get("last-event-id");
    const stream = await this.#feed.open(
      { address, follower },
      after === null ? undefined : Number(after),
    );
    return stream.ok
      ? new Response(stream.value, { headers: STREAM_HEADERS })
      : new Response(stream.failure, { status: 409 });
  }

  /** Ends the streams of those who may not follow any more. */
  async recheck(): Promise<void> {
    await this.#feed.recheck();
  }

  /** Runs an operation. Contract: a write is durable before the answer leaves the object. */
  async call(call: OperationCall): Promise<OperationAnswer> {
    const answer = await this.#data.call(call);
    if (call.key !== undefined) await this.#arm();
    return answer;
  }

  async exportPerson(address: WorkspaceAddress, page: PersonPage): Promise<PersonRows> {
    return this.#data.exportPerson(address, page);
  }

  async erasePerson(address: WorkspaceAddress, personId: ActorId): Promise<ErasedRows> {
    return this.#data.erasePerson(address, personId);
  }

  /** Removes expired ledger rows. A failed alarm is armed again by a later write. */
  override async alarm(): Promise<void> {
    const againMs = this.#data.clean();
    if (againMs !== undefined) return this.ctx.storage.setAlarm(againMs);
    this.#isArmed = false;
  }

  async #arm(): Promise<void> {
    if (this.#isArmed) return;
    this.#isArmed = true;
    const { storage } = this.ctx;
    if ((await storage.getAlarm()) === null) await storage.setAlarm(Date.now() + CLEAN_AFTER_MS);
  }
}
