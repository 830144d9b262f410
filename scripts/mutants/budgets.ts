import type { Mutant } from "./mutant.ts";

/** What keeps runs within the budgets of their tenant and their own. */
export const BUDGETS: readonly Mutant[] = [
  {
    name: "a policy that no call can meet is stored without a warning",
    file: "src/http/tenant/policy.ts",
    from: "const answer = { revision, hash, ...warningsOf(authorised, body.value) };",
    to: "const answer = { revision, hash };",
    test: {
      file: "test/http/policy-warnings.test.ts",
      name: "a policy is stored with a warning about money in another currency",
    },
  },
  {
    name: "a model call holds nothing of the tenant for its answer",
    file: "src/loop/model-budget.ts",
    from: "const amounts = this.#spendingOf(input, most);",
    to: "const amounts = this.#spendingOf(input, 0);",
    test: {
      file: "test/http/budgets.test.ts",
      name: "a model call under way holds the tokens of its longest answer",
    },
  },
  {
    name: "people are asked before the tenant's object says what is left",
    file: "src/runner/budget/reserve.ts",
    from: 'return isFull ? refuse(answer, "tenant") : ok(null);',
    to: "return ok(null);",
    test: {
      file: "test/http/calls-without-room.test.ts",
      name: "because of what the tenant has used up, in budget and in rate",
    },
  },
  {
    name: "people are asked before the run says what is left",
    file: "src/runner/budget/reserve.ts",
    from: 'if (noRoom) return refuse(noRoom, "run");',
    to: "",
    test: {
      file: "test/http/calls-without-room.test.ts",
      name: "because of what the run has used up, in budget and in the contract's rate",
    },
  },
  {
    name: "looking for room takes it",
    file: "durable-objects/tenant/head/budget-book.ts",
    from: "        throw undo;",
    to: "        void undo;",
    test: {
      file: "test/http/calls-without-room.test.ts",
      name: "but asking takes nothing: what a rejected call would have used is there for the next",
    },
  },
  {
    name: "the ceilings do not count the call itself",
    file: "src/runner/gates/check-ceilings.ts",
    from: "{ id, amounts });",
    to: "{ id, amounts: {} });",
    test: {
      file: "test/runner/gates/newer-policy.test.ts",
      name: "the run's limit of cost is lower",
    },
  },
  {
    name: "a run has any number of open approvals",
    file: "src/runner/approval/limit-requests.ts",
    from: "if (approvals.countOpen(number) >= maxOpenApprovals) return TOO_MANY;",
    to: "",
    test: {
      file: "test/http/calls-without-room.test.ts",
      name: "the calls of one run ask people about no more than policy allows at once",
    },
  },
  {
    name: "one caller puts any number of approvals before people",
    file: "durable-objects/tenant/records/approval-queue.ts",
    from: 'if (actor >= limits.actor) return "actor_full";',
    to: "",
    test: {
      file: "test/http/calls-without-room.test.ts",
      name: "no more of them wait at once than policy allows; decided ones make room",
    },
  },
  {
    name: "approvals that no run has reported yet count for nothing",
    file: "durable-objects/tenant/records/approval-queue.ts",
    from: "           UNION SELECT approval_id, requester FROM places)",
    to: "           )",
    test: {
      file: "test/http/calls-without-room.test.ts",
      name: "no more of them wait at once than policy allows; decided ones make room",
    },
  },
  {
    name: "a tenant has any number of open approvals",
    file: "durable-objects/tenant/records/approval-queue.ts",
    from: 'if (tenant >= limits.tenant) return "tenant_full";',
    to: "",
    test: {
      file: "test/http/calls-without-room.test.ts",
      name: "the tenant has a limit too, for all people together",
    },
  },
  {
    name: "a run asks people again and again",
    file: "src/runner/approval/limit-requests.ts",
    from: "return isOver ? ASKED_ENOUGH : undefined;",
    to: "return isOver ? undefined : undefined;",
    test: {
      file: "test/http/calls-without-room.test.ts",
      name: "one run has people asked about no more calls than policy allows, decided ones included",
    },
  },
  {
    name: "refusals by people withdraw the tool",
    file: "src/runner/call-history.ts",
    from: "call.lesson.refusedByPeople !== true",
    to: "true",
    test: {
      file: "test/http/calls-without-room.test.ts",
      name: "however many calls people refused, the tool stays for the call that they want",
    },
  },
  {
    name: "open reservations do not count",
    file: "durable-objects/tenant/head/budget-book.ts",
    from: "this.#spend(window, replaceAmounts(spent, {}, granted));",
    to: "if (!reservation.unsettled) this.#spend(window, replaceAmounts(spent, {}, granted));",
    test: {
      file: "test/durable-objects/thousand-runs.test.ts",
      name: "a limit holds under a thousand runs at once, with settlements, releases and crashes",
    },
  },
  {
    name: "a reservation is closed again and again",
    file: "durable-objects/tenant/head/budget-book.ts",
    from: 'if (!known || known.state === "settled" || known.state === "released") return;',
    to: "if (!known) return;",
    test: {
      file: "test/durable-objects/reservations.test.ts",
      name: "and then counts the used amounts, less or more than reserved",
    },
  },
  {
    name: "the tenant's limit is not looked at",
    file: "durable-objects/tenant/head/budget-book.ts",
    from: 'if (budget) return { kind: "exhausted", budget };',
    to: "",
    test: {
      file: "test/durable-objects/thousand-runs.test.ts",
      name: "a limit holds under a thousand runs at once, with settlements, releases and crashes",
    },
  },
  {
    name: "an invalid count is settled",
    file: "durable-objects/tenant/head/budget-book.ts",
    from: "if (areCountable(used)) this.#close",
    to: "this.#close",
    test: {
      file: "test/durable-objects/reservations.test.ts",
      name: "and not by an invalid amount: a negative number",
    },
  },
  {
    name: "an unsettled reservation is given back whole",
    file: "durable-objects/tenant/head/budget-book.ts",
    from: "this.#recount(reservation, keeps);",
    to: "this.#recount(reservation, {});",
    test: {
      file: "test/durable-objects/lapsed-reservations.test.ts",
      name: "counts the amounts that it may have used once it lapses, not before",
    },
  },
  {
    name: "no alarm is set for what is open",
    file: "durable-objects/tenant/head/tenant-head.ts",
    from: "if (reservation.unsettled) this.#scheduleLapse();",
    to: "",
    test: {
      file: "test/durable-objects/lapsed-reservations.test.ts",
      name: "leaves no alarm once all reservations are closed",
    },
  },
  {
    name: "a settlement brings back a window that is over",
    file: "durable-objects/tenant/head/budget-book.ts",
    from: "if (spent) this.#spend(window, replaceAmounts(spent, counted, now));",
    to: "this.#spend(window, replaceAmounts(spent ?? {}, counted, now));",
    test: {
      file: "test/durable-objects/budget-book.test.ts",
      name: "is not created again by a late settlement",
    },
  },
  {
    name: "a refused reservation is kept",
    file: "durable-objects/tenant/head/stored-reservations.ts",
    from: "unsettled && capAmounts(unsettled.keeps, made.granted)",
    to: "unsettled?.keeps",
    test: {
      file: "test/durable-objects/lapsed-reservations.test.ts",
      name: "counts no more than it was granted",
    },
  },
  {
    name: "another payload takes what the first one had",
    file: "durable-objects/tenant/head/budget-book.ts",
    from: 'return state !== "released" && (least !== undefined || isSameAmounts(granted, amounts));',
    to: 'return state !== "released";',
    test: {
      file: "test/durable-objects/reservations.test.ts",
      name: "replaces its reserved amounts by those of the new arguments, within the limit",
    },
  },
  {
    name: "what is open is forgotten after a day",
    file: "durable-objects/tenant/head/stored-reservations.ts",
    from: "AND (made_ms > ? OR lapses_ms IS NOT NULL)",
    to: "AND made_ms > ?",
    test: {
      file: "test/durable-objects/lapsed-reservations.test.ts",
      name: "stays counted until an alarm closes it, however often it is requested",
    },
  },
  {
    name: "a provider without a usage report costs nothing",
    file: "src/loop/model-budget.ts",
    from: "      return pickSpending(reservation);",
    to: "      return {};",
    test: {
      file: "test/loop/model-allowance.test.ts",
      name: "is used up when the provider reports no usage, or the answer breaks off",
    },
  },
  {
    name: "an impossible usage report is accepted",
    file: "src/wire/model/event-decoder.ts",
    from: "value <= MAX_TOKENS_OF_CALL",
    to: "value <= Number.MAX_SAFE_INTEGER",
    test: { file: "test/http/budgets.test.ts", name: "beyond belief is counted at what was held" },
  },
  {
    name: "model calls hold nothing of the tenant",
    file: "src/loop/model-budget.ts",
    from: "if (!this.#isTenantLimited) return ok(want.most);",
    to: "if (want.most > 0) return ok(want.most);",
    test: {
      file: "test/http/budgets.test.ts",
      name: "sixty runs at once do not use more tokens than their tenant has",
    },
  },
  {
    name: "the answer of a model call is not held",
    file: "src/loop/model-budget.ts",
    from: "const most = Math.min(wanted, room.tokens, room.cost);",
    to: "const most = Math.min(least, room.tokens, room.cost);",
    test: {
      file: "test/loop/model-allowance.test.ts",
      name: "is what is left, down to an answer that is of use",
    },
  },
  {
    name: "the provider is not told how long it may answer",
    file: "src/wire/openai/openai-tool-encoder.ts",
    from: "...(maxOutputTokens !== undefined && { [maxTokensField]: maxOutputTokens }),",
    to: "",
    test: {
      file: "test/http/budgets.test.ts",
      name: "a model call is asked for an answer no longer than is left for it",
    },
  },
  {
    name: "a refused model call keeps what was held",
    file: "src/loop/ask-model.ts",
    from: "modelBudget.release(allowance);",
    to: "modelBudget.settle(allowance, answer);",
    test: {
      file: "test/loop/model-allowance.test.ts",
      name: "is given back when the provider refuses, under an id that no other attempt has",
    },
  },
  {
    name: "a run ends before it reports its usage",
    file: "src/loop/run-loop.ts",
    from: "if (!continued) await modelBudget.settled();",
    to: "",
    test: {
      file: "test/loop/model-allowance.test.ts",
      name: "is told the tenant before the run has ended",
    },
  },
  {
    name: "a crash gives back what was held",
    file: "src/loop/model-budget.ts",
    from: "const used = tokens ?? logged.inputTokens + logged.outputTokens;",
    to: "const used = logged.inputTokens + logged.outputTokens;",
    test: {
      file: "test/loop/broken-incarnation.test.ts",
      name: "what was held for a model call that was cut short stays counted",
    },
  },
  {
    name: "the next incarnation does not report the last one's usage",
    file: "src/loop/model-budget.ts",
    from: "if (known) this.#close(reservation.id, known);",
    to: "",
    test: {
      file: "test/loop/broken-incarnation.test.ts",
      name: "the next incarnation reports a model call's usage to the tenant when the last one could not",
    },
  },
  {
    name: "two attempts hold under one id",
    file: "src/loop/model-budget.ts",
    from: "    this.#refused++;\n",
    to: "",
    test: {
      file: "test/loop/model-allowance.test.ts",
      name: "is given back when the provider refuses, under an id that no other attempt has",
    },
  },
  {
    name: "a call that never ran keeps its reservation",
    file: "src/runner/tool-runner.ts",
    from: "await closeReservation(ports, call);",
    to: "",
    test: {
      file: "test/runner/budget/close-reservation.test.ts",
      name: "releases its reservation when the run is cancelled",
    },
  },
  {
    name: "a call that ran gives its reservation back",
    file: "src/runner/budget/close-reservation.ts",
    from: "if (dispatches > 0) {",
    to: "if (dispatches > 9) {",
    test: {
      file: "test/runner/budget/close-reservation.test.ts",
      name: "keeps its reservation without another request when it may have changed something: it failed",
    },
  },
  {
    name: "a cancelled run calls the model",
    file: "src/loop/run-loop.ts",
    from: "if (!stoppedMeanwhile) return ok({ ...step, allowance: allowed.value });",
    to: "if (true) return ok({ ...step, allowance: allowed.value });",
    test: {
      file: "test/loop/model-allowance.test.ts",
      name: "is given back when the run is stopped before it is asked",
    },
  },
  {
    name: "a request is measured in characters",
    file: "src/wire/model/input-bound.ts",
    from: "utf8Length(JSON.stringify(encode(item)))",
    to: "JSON.stringify(item).length",
    test: {
      file: "test/wire/openai/input-bound.test.ts",
      name: "a request has at most as many tokens as bytes are sent, whatever is in it",
    },
  },
  {
    name: "an edit is not held against the tenant's budget",
    file: "src/run/approvals/edit.ts",
    from: "return room.ok ? ok({ argumentsText, payloadHash }) : room;",
    to: "return ok({ argumentsText, payloadHash });",
    test: {
      file: "test/http/calls-without-room.test.ts",
      name: "an amount over the limit of the tenant",
    },
  },
  {
    name: "all tenants share one ledger",
    file: "src/adapters/tenant/durable-tenant-gateway.ts",
    from: "tenants.get(tenants.idFromName(tenantId))",
    to: 'tenants.get(tenants.idFromName(tenantId && "all"))',
    test: {
      file: "test/durable-objects/reservations.test.ts",
      name: "by its own tenant only",
    },
  },
  {
    name: "an approved read that no limit counts is never settled",
    file: "src/runner/budget/close-reservation.ts",
    from: "asksLedger(policy, tool, amounts) || approvals.newest(number) !== undefined",
    to: "asksLedger(policy, tool, amounts)",
    test: {
      file: "test/runner/approvals.test.ts",
      name: "an approved read settles its reservation in the tenant's ledger",
    },
  },
  {
    name: "each mutation sends the ledger another request",
    file: "src/runner/budget/close-reservation.ts",
    from: "if (isAtTenant && !mutates(tool)) void",
    to: "if (isAtTenant) void",
    test: {
      file: "test/runner/budget/close-reservation.test.ts",
      name: "keeps its reservation without another request when it may have changed something: it succeeded",
    },
  },
  {
    name: "an answer without a usage report uses nothing",
    file: "src/loop/model-budget.ts",
    from: "return pickSpending(reservation);\n    }",
    to: "return usage ? pickSpending(reservation) : { tokens: 0 };\n    }",
    test: { file: "test/http/budgets.test.ts", name: "nothing is counted at what was held" },
  },
];
