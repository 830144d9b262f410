import type { Mutant } from "./mutant.ts";

/** What keeps withheld arguments and secrets inside the run. */
export const SECRECY: readonly Mutant[] = [
  {
    name: "a thrown message is logged as it is",
    file: "src/protocol/text/error-report.ts",
    from: '.map((word) => (PLAIN_WORD.test(word) ? word : "…"))',
    to: "",
    test: {
      file: "test/http/logs.test.ts",
      name: "what a tool throws is logged under the id that its reader and the audit show",
    },
  },
  {
    name: "the audit does not name the line of the log",
    file: "src/runner/outcome/audit-call.ts",
    from: "...(end.errorId !== undefined && { errorId: end.errorId }),",
    to: "",
    test: {
      file: "test/http/logs.test.ts",
      name: "what a tool throws is logged under the id that its reader and the audit show",
    },
  },
  {
    name: "a provider's words are logged as they are",
    file: "src/protocol/text/error-report.ts",
    from: "const words = looksSecret(whole)",
    to: "if (text) return whole;\n  const words = looksSecret(whole)",
    test: {
      file: "test/http/logs.test.ts",
      name: "a provider's refusal is logged and audited in its own words, without its secrets",
    },
  },
  {
    name: "a failed model call is in no audit",
    file: "src/loop/ask-model.ts",
    from: "if (last.failure) reportModelFailure(scope, last.failure);",
    to: "void reportModelFailure;",
    test: {
      file: "test/http/logs.test.ts",
      name: "a provider's refusal is logged and audited in its own words, without its secrets",
    },
  },
  {
    name: "a failed request is not logged",
    file: "src/http/app.ts",
    from: 'services.log.fault("request_failed", error)',
    to: '"err_0"',
    test: {
      file: "test/http/logs.test.ts",
      name: "a request that fails inside is answered with the id of its line",
    },
  },
  {
    name: "an approval shows the plain hash of its payload",
    file: "src/run/outgoing-hashes.ts",
    from: 'if (!("approval" in answer)) return answer;',
    to: "return answer;",
    test: {
      file: "test/http/hidden-arguments.test.ts",
      name: "a PIN that redaction withholds fits no value that leaves the run, among all 10,000 PINs",
    },
  },
  {
    name: "a run shows the plain hash of a payload",
    file: "src/run/state.ts",
    from: "payloadHash: await fingerprintOf(binding.payloadHash),",
    to: "payloadHash: binding.payloadHash,",
    test: {
      file: "test/http/hidden-arguments.test.ts",
      name: "a PIN that redaction withholds fits no value that leaves the run, among all 10,000 PINs",
    },
  },
  {
    name: "a run shows an idempotency key",
    file: "src/run/state.ts",
    from: "await fingerprintOf(binding.idempotencyKey)",
    to: "binding.idempotencyKey",
    test: {
      file: "test/http/hidden-arguments.test.ts",
      name: "a PIN that redaction withholds fits no value that leaves the run, among all 10,000 PINs",
    },
  },
  {
    name: "the audit log holds the plain hash of a payload",
    file: "src/run/outgoing-hashes.ts",
    from: 'if (notice.type !== "audit" || notice.entry.payloadHash === undefined) return sent;',
    to: "return sent;",
    test: {
      file: "test/http/hidden-arguments.test.ts",
      name: "a PIN that redaction withholds fits no value that leaves the run, among all 10,000 PINs",
    },
  },
  {
    name: "a packet shows the idempotency key",
    file: "src/runner/approval/build-packet.ts",
    from: "await ports.fingerprints.of(context, scope.idempotencyKey)",
    to: "scope.idempotencyKey",
    test: {
      file: "test/http/hidden-arguments.test.ts",
      name: "a PIN that redaction withholds fits no value that leaves the run, among all 10,000 PINs",
    },
  },
  {
    name: "a name in KV holds the idempotency key",
    file: "src/adapters/run/kv-run-records.ts",
    from: "${await fingerprints.of(run, idempotencyKey)}",
    to: "${idempotencyKey}",
    test: {
      file: "test/http/hidden-arguments.test.ts",
      name: "a PIN that redaction withholds fits no value that leaves the run, among all 10,000 PINs",
    },
  },
  {
    name: "KV holds the plain hash of a payload",
    file: "src/adapters/run/kv-run-records.ts",
    from: "await fingerprints.of(run, notice.payloadHash)",
    to: "notice.payloadHash",
    test: {
      file: "test/http/hidden-arguments.test.ts",
      name: "a PIN that redaction withholds fits no value that leaves the run, among all 10,000 PINs",
    },
  },
  {
    name: "KV holds the plain hash of a request",
    file: "src/adapters/run/kv-run-records.ts",
    from: "const requestHash = await fingerprints.of(run, finished.requestHash);",
    to: "const { requestHash } = finished;",
    test: {
      file: "test/http/hidden-arguments.test.ts",
      name: "a PIN that redaction withholds fits no value that leaves the run, among all 10,000 PINs",
    },
  },
  {
    name: "a fingerprint does not cover the run",
    file: "src/adapters/keys/hmac-fingerprints.ts",
    from: "[tenantId, runId, value]",
    to: "[tenantId, value]",
    test: {
      file: "test/http/hidden-arguments.test.ts",
      name: "the attacker's own run shows another fingerprint for the same PIN",
    },
  },
  {
    name: "a record in KV holds the arguments of a write",
    file: "durable-objects/run/outbox-delivery.ts",
    from: "endedAtMs: end.endedAtMs,\n  });",
    to: "endedAtMs: end.endedAtMs,\n    ...{ arguments: record.argumentsText },\n  });",
    test: {
      file: "test/http/retention.test.ts",
      name: "an ended write is published without its arguments and without its key in plain text",
    },
  },
  {
    name: "the model learns which field of an output does not fit",
    file: "src/runner/output/normalise-output.ts",
    from: "return fail({ ...INVALID_OUTPUT.failure, detail });",
    to: "return fail({ ...INVALID_OUTPUT.failure, errors, detail });",
    test: {
      file: "test/http/logs.test.ts",
      name: "an output that does not fit names its field in the log and in the audit alone",
    },
  },
];
