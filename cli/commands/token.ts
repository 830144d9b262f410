import { parseArgs } from "node:util";
import { SCOPES } from "../../src/protocol/identity/principal.ts";
import { type Command, messageOf, parsing, UsageError } from "../command.ts";
import { type ApiTokenOwner, mintApiToken } from "../token/mint-api-token.ts";
import { JWT_USAGE, mintJwt } from "../token/mint-jwt.ts";

/** Scopes of a chat client. Management scopes have to be named. */
const DEFAULT_SCOPES = "chat,runs:read,tools:read";
const USAGE =
  "Usage: interlock token --tenant ID --actor user:NAME [--subject user:NAME]\n" +
  `         [--scopes ${DEFAULT_SCOPES}] [--roles approver,...]\n` +
  `Scopes of the API; tools and policies may ask for others:\n${listScopes()}\n${JWT_USAGE}`;

/** Five scopes a line, so that a narrow terminal shows whole lines. */
function listScopes(): string {
  const lines = Array.from({ length: Math.ceil(SCOPES.length / 5) }, (_, line) =>
    SCOPES.slice(line * 5, line * 5 + 5).join(", "),
  );
  return lines.map((line) => `  ${line}`).join("\n");
}

export const command: Command = {
  usage: USAGE,
  run: ([first, ...rest]) =>
    first === "jwt" ? printJwt(rest) : printToken(first === undefined ? [] : [first, ...rest]),
};

/** Makes a bearer token and prints it once, with its entry for the secret API_TOKENS. */
function printToken(args: string[]): void {
  const { token, entry } = mintApiToken(readArguments(args));
  console.error("The token, shown once; give it to the caller:");
  console.log(token);
  console.error(
    "\nIts entry in the list of the secret API_TOKENS (npx wrangler secret put API_TOKENS):",
  );
  console.log(JSON.stringify([entry]));
}

async function printJwt(args: readonly string[]): Promise<void> {
  const token = await mintJwt(args).catch((error: unknown) => {
    throw new UsageError(messageOf(error));
  });
  console.log(token);
}

function readArguments(args: string[]): ApiTokenOwner {
  const text = { type: "string" } as const;
  const scopes = { type: "string", default: DEFAULT_SCOPES } as const;
  const options = { tenant: text, actor: text, subject: text, scopes, roles: text };
  const { values } = parsing(() => parseArgs({ args, options }));
  const { tenant, actor, subject } = values;
  if (!tenant || !actor) throw new UsageError("--tenant and --actor are needed.");
  const roles = values.roles?.split(",") ?? [];
  return { tenant, actor, subject, scopes: values.scopes.split(","), roles };
}
