import { join } from "node:path";
import { API, type Checker, type Program } from "typescript/unstable/sync";
import { PACKAGE_FOLDER } from "../../cli/project/folders.ts";

/** The sources of the HTTP surface, as the compiler understands them. */
export interface Sources {
  readonly checker: Checker;
  readonly program: Program;
}

/** Opens the sources that the document is made from, and ends the compiler after the use. */
export async function withSources<Result>(
  use: (sources: Sources) => Promise<Result>,
): Promise<Result> {
  const api = new API({ cwd: PACKAGE_FOLDER });
  try {
    const config = join(PACKAGE_FOLDER, "scripts/openapi/tsconfig.json");
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
    if (!project) throw new Error(`The compiler cannot open ${config}.`);
    return await use(project);
  } finally {
    api.close();
  }
}
