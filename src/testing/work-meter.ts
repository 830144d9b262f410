import type { ContextHook } from "../capabilities/context.ts";
import type { ToolHook } from "../capabilities/hook.ts";
import { type AuthorCode, revealCode, sealCode } from "../contracts/define/author-code.ts";
import type { AnyToolContract } from "../contracts/define/definition.ts";

type AnyFunction = (...given: never[]) => unknown;

/** Knows whether code of an author is running: a tool, a hook or the fake of a service. */
export class WorkMeter {
  #running = 0;
  #changes = 0;

  get isBusy(): boolean {
    return this.#running > 0;
  }

  /** Grows whenever code of an author begins or ends. */
  get changes(): number {
    return this.#changes;
  }

  /** Returns the contract with functions that the meter counts. */
  contract(contract: AnyToolContract): AnyToolContract {
    const code = revealCode(contract);
    const counted: AuthorCode = {
      ...code,
      ...(code.execute && { execute: this.of(code.execute.bind(code)) }),
      ...(code.checkState && { checkState: this.of(code.checkState.bind(code)) }),
      ...(code.preview && { preview: this.of(code.preview.bind(code)) }),
      ...(code.reconcile && { reconcile: this.of(code.reconcile.bind(code)) }),
    };
    return { ...contract, code: sealCode(counted) };
  }

  hook(hook: ToolHook): ToolHook {
    return {
      ...(hook.before && { before: this.of(hook.before.bind(hook)) }),
      ...(hook.after && { after: this.of(hook.after.bind(hook)) }),
    };
  }

  contextHook(hook: ContextHook): ContextHook {
    return this.of(hook);
  }

  /** Returns the function, counted from its call until its promise is settled. */
  of<Counted extends AnyFunction>(counted: Counted): Counted {
    const measured = (...given: Parameters<Counted>): unknown => {
      this.#note(1);
      let answer: unknown;
      try {
        answer = counted(...given);
      } catch (thrown) {
        this.#note(-1);
        throw thrown;
      }
      if (!isPromise(answer)) {
        this.#note(-1);
        return answer;
      }
      return Promise.resolve(answer).finally(() => this.#note(-1));
    };
    return measured as Counted;
  }

  #note(change: 1 | -1): void {
    this.#running += change;
    this.#changes++;
  }
}

/** A test runner may run tests with another Promise than ours. */
function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | undefined)?.then === "function";
}
