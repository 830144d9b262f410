import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { PACKAGE_FOLDER } from "../../cli/project/folders.ts";

/** What a command printed, and how it ended. */
export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Both, for what must not appear. */
  readonly all: string;
}

/** A folder of a project on this machine, in which `interlock` runs. */
export class ProjectFolder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), "interlock-project-"));

  /** Writes a file; an object as JSON. */
  write(name: string, content: string | object): void {
    const file = join(this.path, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  }

  /** Writes a program that a shell can start. */
  writeProgram(name: string, content: string): void {
    this.write(name, content);
    chmodSync(join(this.path, name), 0o755);
  }

  /** Reads a JSON file; undefined when there is none. */
  read(name: string): unknown {
    const file = join(this.path, name);
    return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as unknown) : undefined;
  }

  remove(name: string): void {
    rmSync(join(this.path, name), { recursive: true });
  }

  /** Runs `interlock` with these arguments, and these variables beside those of this process. */
  async run(args: readonly string[], variables: NodeJS.ProcessEnv = {}): Promise<CommandResult> {
    const script = join(PACKAGE_FOLDER, "cli/interlock.ts");
    const env = { ...process.env, ...variables };
    const child = spawn(process.execPath, [script, ...args], { cwd: this.path, env });
    const exited = once(child, "exit");
    child.stdin.end();
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    const [exitCode] = await exited;
    return { exitCode: exitCode as number, stdout, stderr, all: stdout + stderr };
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
