/** Deadlines of a run's object. */
export type RunDeadline =
  /** Checks that the loop of an unfinished run is alive. */
  | "watchdog"
  /** Stops the run at its time limit. */
  | "wall_clock"
  /** Expires unknown outcomes that no operator resolved. */
  | "outcome"
  /** Begins the next attempt of a call. */
  | "retry"
  /** Reads the state after a completed write. */
  | "verification"
  /** Expires approvals that nobody decided. */
  | "approval"
  /** Retries the delivery of the outbox. */
  | "outbox"
  /** Sends the spans of the run again. */
  | "traces"
  /** Continues to delete a conversation. */
  | "erasure"
  /** Shrinks a finished run to what its idempotency key needs. */
  | "retention"
  /** Deletes the run. */
  | "forget";

/** Deadlines of a tenant's object. */
export type TenantDeadline =
  /** Retries the publication of the policy pointer. */
  | "policy"
  /** Closes reservations that nobody settled in time. */
  | "reservations"
  /** Takes the next step of erasing a person. */
  | "people"
  /** Delivers what people are told of. */
  | "notifications"
  /** Moves records of the audit log to an archive. */
  | "archive"
  /** Deletes records whose retention has ended. */
  | "retention";

export type RunDeadlines = Deadlines<RunDeadline>;
export type TenantDeadlines = Deadlines<TenantDeadline>;

/** When a deadline is due, or the time that a paused one has left. Unit: milliseconds. */
export type Deadline = { readonly atMs: number } | { readonly leftMs: number };

/** All deadlines of an object. */
export type DeadlineSet<Name extends string> = Readonly<Partial<Record<Name, Deadline>>>;

/** Deadlines that go, and deadlines that come unless they are set. */
export interface DeadlineChange<Name extends string> {
  readonly clear: readonly Name[];
  readonly add?: DeadlineSet<Name>;
}

/** Where an object stores its deadlines. */
export interface StoredDeadlines<Name extends string> {
  /** Undefined when the object never had a deadline. */
  read(): DeadlineSet<Name> | undefined;
  /** Replaces all of them. */
  write(deadlines: DeadlineSet<Name>): void;
}

/**
 * Many deadlines over the one alarm of an object: the alarm rings at the earliest deadline, or
 * sooner.
 * Ownership: one per object; the only writer of the deadlines and of the alarm. It holds the
 * deadlines in memory too, and changes the memory after the storage.
 * Contract: the alarm rings at least once for a deadline. A deadline stays until it is cleared or
 * set again. The alarm commits together with all writes of the same turn.
 */
export class Deadlines<Name extends string> {
  readonly #storage: DurableObjectStorage;
  readonly #stored: StoredDeadlines<Name>;
  /** Undefined until the deadlines are read, and while there never was one. */
  #held: DeadlineSet<Name> | undefined;
  #armedMs: number | undefined;

  constructor(storage: DurableObjectStorage, stored: StoredDeadlines<Name>) {
    this.#storage = storage;
    this.#stored = stored;
  }

  /** Takes over the first deadlines, which the caller stores in the same turn. */
  begin(deadlines: DeadlineSet<Name>): void {
    this.#held = deadlines;
    this.arm();
  }

  set(name: Name, atMs: number): void {
    this.#put(name, { atMs });
    this.arm();
  }

  /** Sets a deadline, unless it is set to that time or an earlier one. */
  setEarlier(name: Name, atMs = Number.POSITIVE_INFINITY): void {
    if (atMs < (this.at(name) ?? Number.POSITIVE_INFINITY)) this.set(name, atMs);
  }

  /** Time of a deadline; undefined when the deadline is not set, or is paused. */
  at(name: Name): number | undefined {
    return timeOf(this.#all[name]);
  }

  has(name: Name): boolean {
    return this.#all[name] !== undefined;
  }

  /** Removes deadlines. The alarm stays, and may ring for nothing. */
  clear(...names: readonly Name[]): void {
    this.change({ clear: names });
  }

  /** Removes deadlines and adds others in one write. The alarm stays until `arm` is called. */
  change({ clear, add }: DeadlineChange<Name>): void {
    const kept = { ...this.#all };
    const isNeeded =
      clear.some((name) => kept[name]) ||
      (Object.keys(add ?? {}) as Name[]).some((name) => !kept[name]);
    if (!isNeeded) return;
    for (const name of clear) delete kept[name];
    this.#write({ ...add, ...kept });
  }

  /** Stops a deadline and keeps the time that is left. */
  pause(name: Name, nowMs: number): void {
    const atMs = this.at(name);
    if (atMs !== undefined) this.#put(name, { leftMs: Math.max(0, atMs - nowMs) });
  }

  /** Continues a paused deadline with the time that is left. */
  resume(name: Name, nowMs: number): void {
    const deadline = this.#all[name];
    if (deadline && "leftMs" in deadline) this.set(name, nowMs + deadline.leftMs);
  }

  /** Deadlines that are due, the earliest first. Reads them from storage. */
  due(nowMs: number): readonly Name[] {
    this.#held = undefined;
    return this.#active()
      .filter(({ atMs }) => atMs <= nowMs)
      .toSorted((one, other) => one.atMs - other.atMs)
      .map(({ name }) => name);
  }

  /**
   * Sets the alarm to the earliest deadline, when that is earlier than the alarm. `exactly` sets
   * the alarm in any case: because it has rung, or because it would ring long before a deadline.
   */
  arm({ exactly = false } = {}): void {
    const times = this.#active().map(({ atMs }) => atMs);
    const atMs = times.length > 0 ? Math.min(...times) : undefined;
    const isEarlier = atMs !== undefined && atMs < (this.#armedMs ?? Infinity);
    if (!isEarlier && !(exactly && this.#held)) return;
    this.#armedMs = atMs;
    // The alarm is part of the same commit; when the commit fails, the platform resets the object.
    if (atMs === undefined) void this.#storage.deleteAlarm();
    else void this.#storage.setAlarm(atMs);
  }

  get #all(): DeadlineSet<Name> {
    this.#held ??= this.#stored.read();
    return this.#held ?? ({} as DeadlineSet<Name>);
  }

  #active(): readonly { readonly name: Name; readonly atMs: number }[] {
    const all = Object.entries(this.#all) as [Name, Deadline][];
    return all.flatMap(([name, deadline]) => {
      const atMs = timeOf(deadline);
      return atMs === undefined ? [] : [{ name, atMs }];
    });
  }

  #put(name: Name, deadline: Deadline): void {
    this.#write({ ...this.#all, [name]: deadline });
  }

  #write(deadlines: DeadlineSet<Name>): void {
    this.#stored.write(deadlines);
    this.#held = deadlines;
  }
}

function timeOf(deadline: Deadline | undefined): number | undefined {
  return deadline && "atMs" in deadline ? deadline.atMs : undefined;
}
