/** What a link of a text may open. Others stay text, so that no script runs and no file opens. */
const SCHEMES = new Set(["https:", "http:", "mailto:"]);

/** Whether a text may link there. Threat: addresses in untrusted text. */
export function isLinkable(address: string): boolean {
  const url = parseAddress(address);
  return url !== undefined && SCHEMES.has(url.protocol);
}

/** Reads a whole address. Undefined: it is none, or only means something within a page. */
export function parseAddress(address: string): URL | undefined {
  return URL.canParse(address) ? new URL(address) : undefined;
}

/** Names where an address leads: a host, or who gets the mail. */
export function nameTarget({ protocol, host, pathname }: URL): string {
  return protocol === "mailto:" ? decodeName(pathname) : host;
}

function decodeName(pathname: string): string {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return pathname;
  }
}
