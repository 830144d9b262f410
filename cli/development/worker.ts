import { startTree, type ProcessTree } from "./process-tree.ts";
import { wranglerScript } from "../project/folders.ts";
import { copyPretty } from "./pretty-log.ts";
import { followFrames } from "./source-frames.ts";

/** Settings of `wrangler dev`. Secrets go in a file, because other users can read arguments. */
export interface WorkerSettings {
  readonly project: string;
  readonly port: number;
  readonly persistTo: string;
  readonly secretsFile: string;
  readonly variables: Record<string, string | undefined>;
}

/** The Worker, on the platform's local server. */
export interface KeptWorker {
  /** Resolves with an exit code when the server ended, or when its runtime ended twice at once. */
  readonly exited: Promise<number>;
  /** Tells that the Worker answered, so that it is started again when its runtime ends. */
  readonly noteAnswer: () => void;
  readonly stop: () => Promise<void>;
}

/** What wrangler says when one of its two runtimes ended. */
const ENDED = "The Workers runtime crashed unexpectedly";

interface WorkerWatch {
  /** Called at each end of a runtime, such as by SIGKILL. */
  readonly tellEnded: () => void;
  /** Tells whether the Worker answers within a few seconds. */
  readonly answers: () => Promise<boolean>;
}

/**
 * Runs the Worker. When a runtime ends, wrangler starts the runtime again; requests then hang for
 * ever if it was the runtime that receives them. So a Worker that does not answer by then gets a
 * new server. What the Worker stored stays.
 */
export function keepWorker(
  settings: WorkerSettings,
  { tellEnded, answers }: WorkerWatch,
): KeptWorker {
  const exit = Promise.withResolvers<number>();
  let isStopping = false;
  let hasAnswered = true;
  let isReplaced = false;
  let tree = start();
  function start(): ProcessTree {
    const started = startWorker(settings, (line) => {
      if (line.includes(ENDED) && started === tree && !isReplaced) void replace();
    });
    void started.exited.then((code) => !isReplaced && exit.resolve(code));
    return started;
  }
  async function replace(): Promise<void> {
    if (isStopping) return;
    if (!hasAnswered) return exit.resolve(1);
    isReplaced = true;
    hasAnswered = false;
    tellEnded();
    if (!(await answers())) {
      await tree.stop();
      if (isStopping) return;
      tree = start();
    }
    isReplaced = false;
  }
  return {
    exited: exit.promise,
    noteAnswer: () => void (hasAnswered = true),
    async stop() {
      isStopping = true;
      await tree.stop();
    },
  };
}

function startWorker(
  { project, port, persistTo, secretsFile, variables }: WorkerSettings,
  onLine: (line: string) => void,
): ProcessTree {
  const args = [
    wranglerScript(project),
    "dev",
    "--local",
    "--ip=127.0.0.1",
    `--port=${port}`,
    "--inspector-port=0",
    `--persist-to=${persistTo}`,
    `--env-file=${secretsFile}`,
    "--log-level=warn",
    "--show-interactive-dev-session=false",
    // Frames of errors keep the names of functions.
    "--minify=false",
    ...toVarFlags(variables),
  ];
  const quiet = { CLOUDFLARE_CF_FETCH_ENABLED: "false", WRANGLER_SEND_METRICS: "false" };
  // Threat: on the platform's own port, every page of this machine could use the explorer.
  const closed = { X_LOCAL_EXPLORER: process.env["X_LOCAL_EXPLORER"] ?? "false" };
  // When a build fails, wrangler hides the reason, and the server in front has to tell it.
  const build = { SERVE_REFUSAL: "1" };
  const colour = process.stdout.isTTY ? { FORCE_COLOR: "1" } : {};
  const tell = { mapFrame: followFrames(project), onLine };
  const tree = startTree(process.execPath, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...quiet, ...closed, ...build, ...colour },
  });
  const { stdout, stderr } = tree.child;
  if (stdout) copyPretty(stdout, process.stdout, tell);
  if (stderr) copyPretty(stderr, process.stderr, tell);
  return tree;
}

function toVarFlags(variables: Record<string, string | undefined>): string[] {
  return Object.entries(variables).flatMap(([name, value]) =>
    value === undefined ? [] : ["--var", `${name}:${value}`],
  );
}
