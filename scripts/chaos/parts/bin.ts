import { ask } from "../client/ask.ts";
import { APPROVERS, MEMBERS, policyOf, TOKENS } from "../host/deployment.ts";
import { withHost, type Host } from "../host/hosts.ts";
import { killAfter } from "../host/kill-at-effect.ts";
import { leftOver } from "../verify/left-over.ts";
import { anyCrash } from "../world/make-script.ts";
import type { Failure, Part, PartContext, PartResult } from "../part.ts";
import { seededRandom, type SeededRandom } from "../seeded-random.ts";
import { CRASHING_OBJECTS, planCrash } from "../host/shared-crashes.ts";
import type { Target } from "../client/target.ts";
import { TeamMember, type CallEnd, type TeamCall } from "../people/team-member.ts";
import { Undoer } from "../people/undoer.ts";
import type { Inspection } from "../worker/chaos-gameplan.ts";

const ROUNDS = 40;
const SHORT_ROUNDS = 1;
/** Percentage of the rounds in which the processes are killed. In the others an object crashes. */
const KILLED_PERCENT = 40;
/** Latest kill after the round's first change. Unit: milliseconds. */
const LATEST_KILL_MS = 600;
/** Writes within which an object crashes. */
const MAX_POINT = 15;

/** Deletes and restores rows of GamePlan while people decide, and ends objects and processes. */
export const bin: Part = {
  name: "bin",
  claim: "while people decide, others change, delete and restore: no changed row is deleted",
  run: (context) =>
    withHost(context, async (host) => {
      const trial = new Trial(context, host);
      await trial.open();
      const rounds = context.isShort ? SHORT_ROUNDS : ROUNDS;
      for (let round = 0; round < rounds; round++) await trial.round(round);
      return await trial.close();
    }),
};

class Trial {
  readonly #context: PartContext;
  readonly #host: Host;
  readonly #counts = { rounds: 0, deletions: 0, restorations: 0, crashes: 0, kills: 0 };
  readonly #failures: Failure[] = [];
  readonly #dan: TeamMember;
  readonly #eve: TeamMember;
  readonly #leo: TeamMember;
  /** They approve that the bin is emptied. */
  readonly #approvers: readonly TeamMember[];
  readonly #operator: Target;
  #projectId = "";
  /** Writes that people know to have happened. */
  #accepted = 0;
  #policyRevision = 1;

  constructor(context: PartContext, host: Host) {
    this.#context = context;
    this.#host = host;
    const member = (token: string): TeamMember => new TeamMember({ url: host.url, token });
    this.#dan = member(MEMBERS.dan);
    this.#eve = member(MEMBERS.eve);
    this.#leo = member(MEMBERS.leo);
    this.#approvers = Object.values(APPROVERS).map(member);
    this.#operator = { url: host.url, token: TOKENS.chaos };
  }

  async open(): Promise<void> {
    const call = this.#call("create_project", { name: "Chaos" });
    const { project } = await this.#make<{ readonly project: Row }>(call);
    this.#projectId = project.id;
  }

  async round(number: number): Promise<void> {
    const { seed, progress } = this.#context;
    const random = seededRandom(seed, `bin ${number}`);
    const name = `bin-${seed}-${number}`;
    const rows = await this.#addSystems(name);
    const deletions = {
      changed: this.#deletionOf(rows.changed, `${name}-changed`),
      taken: this.#deletionOf(rows.taken, `${name}-taken`),
      plain: this.#deletionOf(rows.plain, `${name}-plain`),
      left: this.#deletionOf(rows.left, `${name}-left`),
    };
    const { changed, taken, plain, left } = deletions;
    await Promise.all([
      ...[changed, taken, plain].map((call) => this.#dan.untilAsked(call)),
      this.#leo.untilAsked(left),
    ]);

    const trouble = await this.#begin(random);
    const restored = random.chance(50);
    await Promise.all([
      this.#write(this.#eve, this.#changeOf(rows.changed, `${name}-change`)),
      this.#takeAway(rows.taken, name, restored),
      this.#govern(["dan", "eve"]),
    ]);
    const races = random.chance(50);
    const [ofChanged, ofTaken, ofPlain, ofLeft] = await Promise.all([
      this.#write(this.#dan, changed),
      this.#write(this.#dan, taken),
      this.#write(this.#dan, plain),
      this.#write(this.#leo, left),
      races ? this.#write(this.#eve, this.#changeOf(rows.plain, `${name}-race`)) : undefined,
      random.chance(30) ? this.#emptyBin(`${name}-early`) : undefined,
    ]);
    this.#check(name, { ofChanged, ofTaken, ofPlain, ofLeft, races });
    if (ofPlain.taxonomyClass === "SUCCESS") {
      await Promise.all([
        this.#takeBack(ofPlain.runId, name),
        random.chance(50) ? this.#emptyBin(`${name}-late`) : undefined,
      ]);
    }
    await this.#govern(Object.keys(MEMBERS));
    await trouble();
    this.#counts.rounds++;
    progress.show(`${name} is over`);
  }

  async close(): Promise<PartResult> {
    const inspection = { tool: "chaos__inspect", args: {}, key: "inspect" };
    const found = (await this.#dan.carry(inspection)).data as Inspection;
    const { changes, emptied, accepted, ...contradictions } = found;
    const problems = Object.entries(contradictions)
      .filter(([, count]) => count !== 0)
      .map(([what, count]) => `${count} ${what}`);
    if (accepted !== this.#accepted)
      problems.push(`${accepted} in the ledger, ${this.#accepted} told`);
    if (changes + emptied !== accepted)
      problems.push(`${changes} + ${emptied} changes, ${accepted} in the ledger`);
    this.#fail("bin", problems);
    this.#failures.push(...(await leftOver(this.#operator, "bin")));
    return { counts: this.#counts, failures: this.#failures };
  }

  /** Ends an object or the processes during the round. Returns what waits until that is over. */
  async #begin(random: SeededRandom): Promise<() => Promise<void>> {
    const { url } = this.#host;
    if (random.chance(KILLED_PERCENT)) {
      this.#counts.kills++;
      const killed = killAfter(this.#host, random.below(LATEST_KILL_MS));
      return () => killed;
    }
    const objects = random.pick(CRASHING_OBJECTS);
    const { crashes } = await planCrash(url, objects, anyCrash(random, MAX_POINT));
    return async () => {
      this.#counts.crashes += (await planCrash(url, objects, null)).crashes - crashes;
    };
  }

  /** Adds four systems. Each depends on one that somebody deletes too. */
  async #addSystems(name: string): Promise<Record<"changed" | "taken" | "plain" | "left", string>> {
    const add = async (what: string): Promise<string> => {
      const slug = { name: `${name} ${what}`, systemSlug: `${name}-${what}` };
      const args = { projectId: this.#projectId, ...slug };
      const call = this.#call("create_game_system", args);
      return (await this.#make<{ readonly system: Row }>(call)).system.id;
    };
    const [changed, taken, plain, left] = await Promise.all([
      add("changed"),
      add("taken"),
      add("plain"),
      add("left"),
    ]);
    const links = [
      [changed, taken],
      [taken, plain],
      [left, plain],
    ] as const;
    await Promise.all(
      links.map(([sourceSystemId, targetSystemId]) => {
        const args = { sourceSystemId, targetSystemId, type: "requires" };
        return this.#make(this.#call("add_dependency", args));
      }),
    );
    return { changed, taken, plain, left };
  }

  /** Somebody else deletes a row, and perhaps restores it. */
  async #takeAway(systemId: string, name: string, isRestored: boolean): Promise<void> {
    const { taxonomyClass, runId } = await this.#write(
      this.#eve,
      this.#deletionOf(systemId, `${name}-away`),
    );
    if (taxonomyClass !== "SUCCESS") this.#fail(name, [`deleted by another: ${taxonomyClass}`]);
    else if (isRestored) await this.#takeBack(runId, name, MEMBERS.eve);
  }

  /** Clicks twice. An undo is stale once the bin was emptied. An operator reports a failed one. */
  async #takeBack(runId: string, name: string, token: string = MEMBERS.dan): Promise<void> {
    const undoer = new Undoer({ url: this.#host.url, token });
    await Promise.all([undoer.undo(runId), undoer.undo(runId)]);
    const status = (await undoer.untilUndone(runId))?.undo?.status;
    if (status === "undone") {
      this.#accepted++;
      this.#counts.restorations++;
    } else if (status === "failed") await this.#report(runId);
    else if (status !== "stale") {
      const answer = JSON.stringify(await undoer.undo(runId));
      this.#fail(name, [`the undo is ${status}, and a click is answered with ${answer}`]);
    }
  }

  async #report(runId: string): Promise<void> {
    const path = `/v1/runs/${runId}/invocations/inv_1/outcome`;
    const body = { outcome: "not_committed" };
    for (let status = 0; status !== 200;) ({ status } = await ask(this.#operator, path, { body }));
  }

  /** An empty bin is refused: nobody is asked about nothing. */
  async #emptyBin(key: string): Promise<void> {
    const call = { ...this.#call("empty_bin", { projectId: this.#projectId }), key };
    const { taxonomyClass, codes } = await this.#write(this.#eve, call, this.#approvers);
    if (taxonomyClass !== "SUCCESS" && !codes.includes("conflict"))
      this.#fail(key, [`not emptied: ${taxonomyClass} ${codes.join()}`]);
  }

  /** Makes these the members of the team. */
  async #govern(members: readonly string[]): Promise<void> {
    for (let status = 0; status !== 200;) {
      const answer = await ask(this.#operator, "/v1/policy", {
        method: "PUT",
        body: policyOf(members),
        headers: { "if-match": `"${this.#policyRevision}"` },
      });
      status = answer.status;
      const { revision } = answer.body as { readonly revision?: number };
      this.#policyRevision = revision ?? this.#policyRevision;
    }
  }

  /** Makes a write that must succeed. */
  async #make<Data extends object>(call: TeamCall): Promise<Data> {
    const data = await this.#eve.make<Data>(call);
    this.#accepted++;
    return data;
  }

  async #write(
    member: TeamMember,
    call: TeamCall,
    voters?: readonly TeamMember[],
  ): Promise<CallEnd> {
    const end = await member.carry(call, voters);
    if (end.taxonomyClass === "SUCCESS") this.#accepted++;
    return end;
  }

  #check(name: string, ends: Ends): void {
    const { ofChanged, ofTaken, ofPlain, ofLeft, races } = ends;
    const problems: string[] = [];
    const refuse = (what: string, { taxonomyClass }: CallEnd): void => {
      if (taxonomyClass === "SUCCESS") problems.push(`deleted, but ${what}`);
    };
    refuse("it changed since", ofChanged);
    refuse("another deleted it before", ofTaken);
    refuse("the member had left", ofLeft);
    if (ofPlain.taxonomyClass === "SUCCESS") {
      const { binItem } = ofPlain.data as { readonly binItem: { readonly revision: number } };
      if (binItem.revision !== 2) problems.push(`revision ${binItem.revision} was deleted`);
      this.#counts.deletions++;
    } else if (!races) problems.push(`not deleted: ${ofPlain.taxonomyClass}`);
    this.#fail(name, problems);
  }

  /** Deletes a row as it was made. */
  #deletionOf(systemId: string, key: string): TeamCall {
    return { ...this.#call("delete_game_system", { systemId, revision: 1 }), key };
  }

  #changeOf(systemId: string, key: string): TeamCall {
    const args = { systemId, changeSummary: "chaos", purpose: key };
    return { ...this.#call("update_game_system", args), key };
  }

  #calls = 0;
  #call(name: string, args: object): TeamCall {
    return { tool: `gameplan__${name}`, args, key: `bin-${this.#calls++}` };
  }

  #fail(name: string, problems: readonly string[]): void {
    if (problems.length === 0) return;
    this.#context.progress.keep(`FAIL ${name}\n       ${problems.join("\n       ")}`);
    this.#failures.push({ name, problems });
  }
}

interface Row {
  readonly id: string;
}

interface Ends {
  readonly ofChanged: CallEnd;
  readonly ofTaken: CallEnd;
  readonly ofPlain: CallEnd;
  readonly ofLeft: CallEnd;
  /** Somebody changes the plain row at the same time. */
  readonly races: boolean;
}
