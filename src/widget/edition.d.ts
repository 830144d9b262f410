/** Names the sources of a build, so that files of two builds are not mixed. */
declare const EDITION: string;
