import { createTokenForm } from "../token-form.ts";

/** What a page does with a token that its reader enters. */
export interface SignInPorts {
  readonly onToken: (token: string) => void;
  /** False where the page provides the token. */
  readonly canAskForToken: () => boolean;
}

/** Why a request failed, as far as the reader's token is concerned. */
export interface TokenFailure {
  readonly message: string;
  /** True when the server rejected the token. */
  readonly needsToken: boolean;
}

/** Asks the reader for a token once the server wants one. */
export class SignIn {
  readonly root: HTMLElement;
  readonly #ports: SignInPorts;
  readonly #form;
  #wasRefused = false;

  /** `onSignedIn` sends again what the server refused. */
  constructor(ports: SignInPorts, onSignedIn: () => void) {
    this.#ports = ports;
    this.#form = createTokenForm((token) => {
      this.#wasRefused = true;
      // The form appears again, with the reason, if the server refuses this token too.
      this.#form.update({ isNeeded: false, wasRefused: true });
      ports.onToken(token);
      onSignedIn();
    });
    this.root = this.#form.root;
  }

  /** Shows or hides the form after an answer. Returns what the page tells its reader besides. */
  accept(failure: TokenFailure | undefined): string {
    if (!failure) this.#wasRefused = false;
    const isNeeded = failure?.needsToken === true && this.#ports.canAskForToken();
    this.#form.update({ isNeeded, wasRefused: this.#wasRefused });
    return isNeeded ? "" : (failure?.message ?? "");
  }
}
