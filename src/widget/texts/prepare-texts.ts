import { setLanguage } from "./say.ts";

/** What a deployment says in place of the texts of the table, by what they say in English. */
export type OwnTexts = Readonly<Record<string, string>>;

/**
 * Makes the texts of the page ready, and sets its language. Undefined when they are ready at once,
 * as in English. Contract: the promise never rejects; a table that cannot be loaded leaves English.
 */
export function prepareTexts(lang: string, own: OwnTexts | undefined): Promise<void> | undefined {
  const isGerman = /^de(?:-|$)/i.test(lang);
  if (isGerman || own) return loadTexts(isGerman ? lang : undefined, own ?? {});
  setLanguage({ locale: undefined, table: {} });
  return undefined;
}

async function loadTexts(german: string | undefined, own: OwnTexts): Promise<void> {
  const known = await import("./german.ts").then(
    ({ GERMAN }) => GERMAN,
    () => undefined,
  );
  for (const name of Object.keys(known ? own : {})) {
    if (!Object.hasOwn(known ?? {}, name)) {
      reportError(
        new TypeError(`The chat has no text "${name}". Compare it with the English one.`),
      );
    }
  }
  const isGerman = german !== undefined && known !== undefined;
  setLanguage({ locale: isGerman ? german : undefined, table: { ...(isGerman && known), ...own } });
}
