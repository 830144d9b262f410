import type { Side } from "./frame.ts";

const KEY = "interlock-gameplan:side";

/** Reads which side a phone showed last in this tab. */
export function loadSide(): Side {
  try {
    return sessionStorage.getItem(KEY) === "chat" ? "chat" : "project";
  } catch {
    return "project";
  }
}

export function saveSide(side: Side): void {
  try {
    sessionStorage.setItem(KEY, side);
  } catch {
    // Without session storage a reload shows the project.
  }
}
