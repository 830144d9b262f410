/** Sets the title of the run that the tool runs in. Contract: the last call wins. */
export interface RunTitle {
  set(title: string): void;
}
