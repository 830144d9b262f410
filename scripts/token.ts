import { createHash, randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { parseApiTokens } from "../src/protocol/identity/api-token.ts";
import { SCOPES } from "../src/protocol/identity/principal.ts";
import { JWT_USAGE, mintJwt } from "./mint-jwt.ts";

/** Scopes of a chat client. Management scopes have to be named. */
const DEFAULT_SCOPES = "chat,runs:read,tools:read";
const USAGE =
  `Usage: npm run -s token -- --tenant ID --actor user:NAME [--subject user:NAME] [--scopes ${DEFAULT_SCOPES}] [--roles approver,...]\n` +
  `Scopes of the API: ${SCOPES.join(", ")}; tools and policies may ask for others.`;

if (process.argv[2] === "jwt") await printJwt(process.argv.slice(3));
else main();

/** Makes a bearer token and prints it once, with its entry for the secret API_TOKENS. */
function main(): void {
  const { tenant, actor, subject, scopes, roles } = readArguments();
  const token = `ilk_${randomBytes(32).toString("base64url")}`;
  const entry = {
    sha256: createHash("sha256").update(token).digest("hex"),
    tenantId: tenant,
    actorId: actor,
    ...(subject !== undefined && { subjectId: subject }),
    scopes,
    ...(roles.length > 0 && { roles }),
  };
  if (!parseApiTokens(JSON.stringify([entry]))) {
    refuse("The tenant, the actor, a scope or a role is not of the expected form.");
  }
  console.error("The token, shown once; give it to the caller:");
  console.log(token);
  console.error(
    "\nIts entry in the list of the secret API_TOKENS (npx wrangler secret put API_TOKENS):",
  );
  console.log(JSON.stringify([entry]));
}

async function printJwt(args: readonly string[]): Promise<void> {
  try {
    console.log(await mintJwt(args));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${JWT_USAGE}`);
    process.exit(2);
  }
}

interface Arguments {
  readonly tenant: string;
  readonly actor: string;
  /** The user for whom the actor acts. */
  readonly subject: string | undefined;
  readonly scopes: readonly string[];
  readonly roles: readonly string[];
}

function readArguments(): Arguments {
  try {
    const { values } = parseArgs({
      options: {
        tenant: { type: "string" },
        actor: { type: "string" },
        subject: { type: "string" },
        scopes: { type: "string", default: DEFAULT_SCOPES },
        roles: { type: "string" },
      },
    });
    if (!values.tenant || !values.actor) return refuse("--tenant and --actor are needed.");
    const { tenant, actor, subject } = values;
    const roles = values.roles?.split(",") ?? [];
    return { tenant, actor, subject, scopes: values.scopes.split(","), roles };
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function refuse(reason: string): never {
  console.error(`${reason}\n${USAGE}`);
  process.exit(2);
}
