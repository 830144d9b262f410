import type { Mutant } from "./mutant.ts";

/** What keeps a run going across crashes, alarms and deadlines. */
export const INCARNATIONS: readonly Mutant[] = [
  {
    name: "the alarm is set to the last deadline",
    file: "durable-objects/deadlines.ts",
    from: "Math.min(...times)",
    to: "Math.max(...times)",
    test: {
      file: "test/durable-objects/deadlines.test.ts",
      name: "is set to the earliest deadline",
    },
  },
  {
    name: "the alarm is set again when a deadline is cleared",
    file: "durable-objects/deadlines.ts",
    from: "this.change({ clear: names });",
    to: "this.change({ clear: names });\n    this.arm({ exactly: true });",
    test: {
      file: "test/durable-objects/deadlines.test.ts",
      name: "stays when its deadline is cleared, until it is set exactly",
    },
  },
  {
    name: "a run goes on after its time limit",
    file: "durable-objects/run/run-lifecycle.ts",
    from: 'return this.#requestStop("time");',
    to: "return;",
    test: {
      file: "test/durable-objects/run-incarnations.test.ts",
      name: "ends a run that streams",
    },
  },
  {
    name: "the time limit goes on while people decide",
    file: "durable-objects/run/run-deadlines.ts",
    from: 'if (awaitsPeople) deadlines.pause("wall_clock", nowMs);',
    to: "",
    test: {
      file: "test/durable-objects/run-incarnations.test.ts",
      name: "stops while a run waits for an operator, and continues afterwards",
    },
  },
  {
    name: "the time limit does not continue after people decided",
    file: "durable-objects/run/run-lifecycle.ts",
    from: 'deadlines.resume("wall_clock", clock.nowMs());',
    to: "",
    test: {
      file: "test/durable-objects/run-incarnations.test.ts",
      name: "stops while a run waits for an operator, and continues afterwards",
    },
  },
  {
    name: "a run that crashes again and again is recovered for ever",
    file: "src/run/plan-recovery.ts",
    from: "recoveries > MAX_RECOVERIES;",
    to: "recoveries > Infinity;",
    test: {
      file: "test/durable-objects/run-incarnations.test.ts",
      name: "ends a run that crashes again and again, with the reason",
    },
  },
  {
    name: "every wake recovers the run at once",
    file: "durable-objects/run/run-lifecycle.ts",
    from: "if (plan.isRepeated && !isRequested && notBeforeMs > clock.nowMs()) return;",
    to: "",
    test: {
      file: "test/durable-objects/run-incarnations.test.ts",
      name: "waits between two recoveries that finished no step",
    },
  },
  {
    name: "a run that no loop can end keeps its calls open",
    file: "src/loop/end-interrupted.ts",
    from: "closeOpenCalls({ clock, journal, approvals }, claim, { invocations, transcript });",
    to: "",
    test: {
      file: "test/durable-objects/run-incarnations.test.ts",
      name: "ends a run that no loop can end, and closes its calls and parts",
    },
  },
  {
    name: "a run that no loop can end keeps its text open",
    file: "src/loop/end-interrupted.ts",
    from: "journal.append(finishOpenParts(progress));",
    to: "",
    test: {
      file: "test/durable-objects/run-incarnations.test.ts",
      name: "ends a run that no loop can end, and closes its open text",
    },
  },
  {
    name: "a failed recovery keeps the object from answering",
    file: "durable-objects/run/run-object.ts",
    from: "      } catch (thrown) {\n        await this.#retryLater(thrown);",
    to: "      } catch (thrown) {\n        throw thrown;",
    test: {
      file: "test/durable-objects/run-incarnations.test.ts",
      name: "a run that cannot be recovered still answers, and is recovered later",
    },
  },
  {
    name: "a failed recovery leaves the object without an alarm",
    file: "durable-objects/run/run-object.ts",
    from: "      } catch (thrown) {\n        await this.#retryLater(thrown);",
    to: "      } catch (thrown) {\n        void thrown;",
    test: {
      file: "test/durable-objects/run-incarnations.test.ts",
      name: "a run that cannot be recovered still answers, and is recovered later",
    },
  },
  {
    name: "a late watchdog starts a second loop of a waiting run",
    file: "src/run/next-move.ts",
    from: 'watched: "end_watch"',
    to: 'watched: "recover"',
    test: {
      file: "test/durable-objects/run-lifecycle.test.ts",
      name: "a run that begins to wait while its alarm rings is not recovered",
    },
  },
  {
    name: "a recovery begins no epoch",
    file: "durable-objects/run/run-lifecycle.ts",
    from: "const epoch = incarnations.epoch + 1;",
    to: "const { epoch } = incarnations;",
    test: {
      file: "test/durable-objects/run-incarnations.test.ts",
      name: "a reader that saw lost events resumes, even while the run backs off",
    },
  },
  {
    name: "a loop that never reaches its first step does not count as stuck",
    file: "durable-objects/run/run-activity.ts",
    from: "const loop: Loop = { abort, ended, stuckAtMs: clock.nowMs() + STUCK_AFTER_MS };",
    to: "const loop: Loop = { abort, ended, stuckAtMs: clock && undefined };",
    test: {
      file: "test/durable-objects/run-lifecycle.test.ts",
      name: "a loop that does not reach its first step in time is abandoned",
    },
  },
  {
    name: "a failed publication is repeated without a delay",
    file: "durable-objects/run/outbox-delivery.ts",
    from: "if (!outbox.isEmpty()) this.#retryLater();",
    to: "",
    test: {
      file: "test/durable-objects/run-lifecycle.test.ts",
      name: "a failed publication is repeated by the alarm, and then no alarm is left",
    },
  },
  {
    name: "an ended run that is not published has no deadline for it",
    file: "durable-objects/run/run-deadlines.ts",
    from: "...(!outbox.isEmpty() && { outbox: { atMs: nowMs } }),",
    to: "",
    test: {
      file: "test/durable-objects/run-lifecycle.test.ts",
      name: "the next incarnation publishes an ended run whose object crashed before the publication",
    },
  },
  {
    name: "two publications of a run go on at the same time",
    file: "durable-objects/run/outbox-delivery.ts",
    from: "if (this.#isPublishing) return;",
    to: "",
    test: {
      file: "test/durable-objects/run-lifecycle.test.ts",
      name: "an entry that arrives during a delivery is delivered too",
    },
  },
  {
    name: "the first deadline that fails stops the others",
    file: "durable-objects/run/run-lifecycle.ts",
    from: "failures.push(cause);",
    to: "throw cause;",
    test: {
      file: "test/durable-objects/run-lifecycle.test.ts",
      name: "a deadline that fails does not delay the other deadlines",
    },
  },
  {
    name: "recoveries that fail are not counted",
    file: "durable-objects/run/run-lifecycle.ts",
    from: "store.saveIncarnations(plan.incarnations);",
    to: "",
    test: {
      file: "test/durable-objects/run-lifecycle.test.ts",
      name: "a run that the deployment cannot start ends after a bounded number of attempts",
    },
  },
  {
    name: "a run that cannot start is started for ever",
    file: "src/run/plan-recovery.ts",
    from: "mayLaunch: recoveries <= MAX_RECOVERIES + 1",
    to: "mayLaunch: true",
    test: {
      file: "test/durable-objects/run-lifecycle.test.ts",
      name: "a run that the deployment cannot start ends after a bounded number of attempts",
    },
  },
  {
    name: "a deleted run handles further deadlines",
    file: "durable-objects/run/run-lifecycle.ts",
    from: "return this.#ports.forget();",
    to: "await this.#ports.forget();",
    test: {
      file: "test/durable-objects/run-lifecycle.test.ts",
      name: "a deleted run leaves no data and no due deadline",
    },
  },
];
