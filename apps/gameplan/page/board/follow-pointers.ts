import type { Point } from "./geometry.ts";

/** What lies under a pointer. */
export type Hit =
  | { readonly kind: "box"; readonly id: string }
  /** The place of a box from which a new arrow is drawn. */
  | { readonly kind: "knob"; readonly id: string }
  | { readonly kind: "arrow"; readonly key: string }
  | { readonly kind: "room" };

/** What pointers do to a board. Points and ways are pixels, from the corner of the element. */
export interface PointerPorts {
  readonly hit: (target: EventTarget | null) => Hit;
  readonly pan: (by: Point) => void;
  readonly zoom: (factor: number, at: Point) => void;
  readonly select: (hit: Hit) => void;
  readonly dragBox: (id: string, by: Point) => void;
  readonly dropBox: (id: string) => void;
  readonly dragArrow: (from: string, at: Point, over: Hit) => void;
  /** `over` undefined: the reader gave up. */
  readonly dropArrow: (from: string, over: Hit | undefined) => void;
}

/** A press that moves less far is a click. Unit: pixels. */
const CLICK_PX = 4;
const WHEEL_ZOOM = 0.0022;

interface Press {
  readonly hit: Hit;
  readonly start: Point;
  last: Point;
  isMoved: boolean;
}

/**
 * Follows mouse, pen and fingers over an element: a press moves a box, draws an arrow or moves the
 * view; two fingers and the wheel zoom.
 */
export function followPointers(surface: SVGElement, ports: PointerPorts): void {
  const pointers = new Map<number, Point>();
  let press: Press | undefined;
  const at = (event: MouseEvent): Point => {
    const { left, top } = surface.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  const under = (event: PointerEvent): Hit => {
    const root = surface.getRootNode() as Document | ShadowRoot;
    return ports.hit(root.elementFromPoint(event.clientX, event.clientY));
  };
  const giveUp = (): void => {
    if (press?.isMoved && press.hit.kind === "knob") ports.dropArrow(press.hit.id, undefined);
    if (press?.isMoved && press.hit.kind === "box") ports.dropBox(press.hit.id);
    press = undefined;
  };

  surface.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    surface.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, at(event));
    if (pointers.size > 1) return giveUp();
    press = { hit: ports.hit(event.target), start: at(event), last: at(event), isMoved: false };
  });
  surface.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = at(event);
    if (pointers.size === 2) pinch(pointers, { id: event.pointerId, now }, ports);
    pointers.set(event.pointerId, now);
    if (!press) return;
    press.isMoved ||= distance(press.start, now) >= CLICK_PX;
    if (!press.isMoved) return;
    const by = { x: now.x - press.last.x, y: now.y - press.last.y };
    press.last = now;
    const { hit } = press;
    if (hit.kind === "box") ports.dragBox(hit.id, by);
    else if (hit.kind === "knob") ports.dragArrow(hit.id, now, under(event));
    else ports.pan(by);
  });
  surface.addEventListener("pointerup", (event) => {
    pointers.delete(event.pointerId);
    if (!press) return;
    const { hit, isMoved } = press;
    press = undefined;
    if (!isMoved) ports.select(hit);
    else if (hit.kind === "box") ports.dropBox(hit.id);
    else if (hit.kind === "knob") ports.dropArrow(hit.id, under(event));
  });
  surface.addEventListener("pointercancel", (event) => {
    pointers.delete(event.pointerId);
    giveUp();
  });
  surface.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const isZoom = event.ctrlKey || event.metaKey;
      if (isZoom) ports.zoom(Math.exp(-event.deltaY * WHEEL_ZOOM), at(event));
      else ports.pan({ x: -event.deltaX, y: -event.deltaY });
    },
    { passive: false },
  );
}

function pinch(
  pointers: ReadonlyMap<number, Point>,
  moved: { readonly id: number; readonly now: Point },
  { pan, zoom }: Pick<PointerPorts, "pan" | "zoom">,
): void {
  const before = pointers.get(moved.id);
  const [other] = [...pointers].filter(([id]) => id !== moved.id).map(([, point]) => point);
  if (!before || !other) return;
  pan({ x: (moved.now.x - before.x) / 2, y: (moved.now.y - before.y) / 2 });
  const factor = distance(moved.now, other) / Math.max(1, distance(before, other));
  zoom(factor, { x: (moved.now.x + other.x) / 2, y: (moved.now.y + other.y) / 2 });
}

function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}
