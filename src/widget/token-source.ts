/** Answers the access token of the page that embeds an element, if it has one. */
export type TokenSource = () => string | undefined | Promise<string | undefined>;
