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
import { type CommandResult, runCommand } from "./command-process.ts";

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
  run(args: readonly string[], variables: NodeJS.ProcessEnv = {}): Promise<CommandResult> {
    return runCommand(args, this.path, variables);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
