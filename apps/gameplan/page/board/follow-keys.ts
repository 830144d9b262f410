import type { Point } from "./geometry.ts";
import type { BoardSystem } from "./model.ts";
import type { Surface } from "./surface.ts";

const STEP = 24;
const PAN = 64;
const WAYS: Readonly<Record<string, Point>> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};
/** Presses within this time are one move. Unit: milliseconds. */
const GATHER_MS = 500;

/**
 * Follows the keyboard on the board: arrows move the selected system, or else the view; plus, minus
 * and 0 zoom.
 */
export function followKeys(
  surface: Surface,
  ports: {
    readonly selected: () => BoardSystem | undefined;
    readonly select: (id: string | undefined) => void;
    readonly move: (id: string, to: Point) => void;
  },
): void {
  let moving: { readonly id: string; readonly to: Point } | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const send = (): void => {
    clearTimeout(timer);
    if (moving) ports.move(moving.id, moving.to);
    moving = undefined;
  };
  const step = (way: Point): void => {
    const system = ports.selected();
    if (!system) return surface.pan({ x: -way.x * PAN, y: -way.y * PAN });
    if (moving && moving.id !== system.id) send();
    const from = moving?.to ?? system.at;
    moving = { id: system.id, to: { x: from.x + way.x * STEP, y: from.y + way.y * STEP } };
    surface.hold(moving.id, moving.to);
    clearTimeout(timer);
    timer = setTimeout(send, GATHER_MS);
  };
  surface.root.addEventListener("blur", send);
  surface.root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const way = WAYS[event.key];
    const zooms: Readonly<Record<string, () => void>> = {
      "+": () => surface.zoom(1.25),
      "=": () => surface.zoom(1.25),
      "-": () => surface.zoom(0.8),
      "0": () => surface.fit(),
      Escape: () => ports.select(undefined),
    };
    const action = way ? () => step(way) : zooms[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}
