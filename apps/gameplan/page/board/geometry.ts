import { NODE } from "../graph/layout.ts";

/** A point of the board, in its units, or of the window, in pixels from the corner of the board. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** What the window shows: the point in its corner, and pixels for one unit. */
export interface View extends Point {
  readonly scale: number;
}

/** A column of 300 systems fits into a window. */
const MIN_SCALE = 0.02;
const MAX_SCALE = 2.5;
/** Free room around everything. Unit: pixels. */
const MARGIN = 28;

/** The point of the board at a point of the window. */
export function toBoard(view: View, at: Point): Point {
  return { x: view.x + at.x / view.scale, y: view.y + at.y / view.scale };
}

/** Zooms by a factor, and keeps what is at a point of the window there. */
export function zoomAt(view: View, factor: number, at: Point): View {
  const scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, view.scale * factor));
  const kept = toBoard(view, at);
  return { x: kept.x - at.x / scale, y: kept.y - at.y / scale, scale };
}

/** Moves what the window shows by pixels. */
export function panBy(view: View, by: Point): View {
  return { ...view, x: view.x - by.x / view.scale, y: view.y - by.y / view.scale };
}

/** Shows all of these boxes; nothing is drawn larger than it is. */
export function fitTo(corners: readonly Point[], size: Size): View {
  if (corners.length === 0) return { x: 0, y: 0, scale: 1 };
  const [xs, ys] = [corners.map(({ x }) => x), corners.map(({ y }) => y)];
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const width = Math.max(...xs) + NODE.width - left;
  const height = Math.max(...ys) + NODE.height - top;
  const room = { width: size.width - 2 * MARGIN, height: size.height - 2 * MARGIN };
  const scale = Math.max(MIN_SCALE, Math.min(1, room.width / width, room.height / height));
  return {
    x: left + width / 2 - size.width / 2 / scale,
    y: top + height / 2 - size.height / 2 / scale,
    scale,
  };
}

/** Shows a box in the middle. */
export function centreOn(view: View, corner: Point, size: Size): View {
  return {
    ...view,
    x: corner.x + NODE.width / 2 - size.width / 2 / view.scale,
    y: corner.y + NODE.height / 2 - size.height / 2 / view.scale,
  };
}

/** Tells whether a whole box is in the window. */
export function isInSight(view: View, { x, y }: Point, size: Size): boolean {
  const { width, height } = { width: size.width / view.scale, height: size.height / view.scale };
  return (
    x >= view.x &&
    y >= view.y &&
    x + NODE.width <= view.x + width &&
    y + NODE.height <= view.y + height
  );
}

/** A part of the board. */
export interface Area {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** What the window shows, and as much as `around` of its own size on each side. */
export function seenArea({ x, y, scale }: View, size: Size, around: number): Area {
  const [width, height] = [size.width / scale, size.height / scale];
  return {
    left: x - width * around,
    top: y - height * around,
    right: x + width * (1 + around),
    bottom: y + height * (1 + around),
  };
}

/** The area of boxes with these corners, grown on each side. */
export function areaOf(corners: readonly Point[], grown = 0): Area {
  const [xs, ys] = [corners.map(({ x }) => x), corners.map(({ y }) => y)];
  return {
    left: Math.min(...xs) - grown,
    top: Math.min(...ys) - grown,
    right: Math.max(...xs) + NODE.width + grown,
    bottom: Math.max(...ys) + NODE.height + grown,
  };
}

export function widthOf({ left, right }: Area): number {
  return right - left;
}

export function overlaps(a: Area, b: Area): boolean {
  return a.left <= b.right && b.left <= a.right && a.top <= b.bottom && b.top <= a.bottom;
}

export function isWithin(inner: Area, outer: Area): boolean {
  return (
    inner.left >= outer.left &&
    inner.top >= outer.top &&
    inner.right <= outer.right &&
    inner.bottom <= outer.bottom
  );
}

/** The line from one box to another, and the head at its end, as paths. */
export function arrowBetween(source: Point, target: Point): { line: string; head: string } {
  const middle = { x: NODE.width / 2, y: NODE.height / 2 };
  const isLeft = target.x + NODE.width <= source.x;
  const isRight = source.x + NODE.width <= target.x;
  const [dx, dy] = isLeft || isRight ? [isLeft ? -1 : 1, 0] : [0, target.y < source.y ? -1 : 1];
  const start = {
    x: source.x + middle.x + dx * middle.x,
    y: source.y + middle.y + dy * middle.y,
  };
  const end = {
    x: target.x + middle.x - dx * (middle.x + GAP),
    y: target.y + middle.y - dy * (middle.y + GAP),
  };
  const pull = Math.max(24, Math.abs(dx === 0 ? end.y - start.y : end.x - start.x) / 2);
  const line =
    `M${start.x} ${start.y}C${start.x + dx * pull} ${start.y + dy * pull} ` +
    `${end.x - dx * pull} ${end.y - dy * pull} ${end.x} ${end.y}`;
  return { line, head: headAt(end, { x: dx, y: dy }) };
}

/** Free room between the head of an arrow and its box. */
const GAP = 8;

function headAt(end: Point, to: Point): string {
  const tip = { x: end.x + to.x * 7, y: end.y + to.y * 7 };
  const side = { x: to.y * 4, y: to.x * 4 };
  return `M${end.x - side.x} ${end.y - side.y}L${tip.x} ${tip.y}L${end.x + side.x} ${end.y + side.y}`;
}
