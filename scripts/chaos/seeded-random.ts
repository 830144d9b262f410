/** Random numbers that a seed repeats. */
export interface SeededRandom {
  /** At least 0 and less than 1. */
  fraction(): number;
  /** A whole number of at least 0 and less than `end`. */
  below(end: number): number;
  /** True in `percent` of 100 cases. */
  chance(percent: number): boolean;
  pick<T>(values: readonly [T, ...T[]]): T;
}

/** Starts the sequence of a seed and a name. */
export function seededRandom(seed: number, name = ""): SeededRandom {
  let state = seed >>> 0;
  for (const char of name) state = Math.imul(state ^ (char.codePointAt(0) ?? 0), 0x0100_0193);
  const fraction = (): number => {
    // Mulberry32, by Tommy Ettinger; public domain.
    state = (state + 0x6d2b_79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number): number => Math.floor(fraction() * end);
  return {
    fraction,
    below,
    chance: (percent) => fraction() * 100 < percent,
    pick: (values) => values[below(values.length)] ?? values[0],
  };
}
