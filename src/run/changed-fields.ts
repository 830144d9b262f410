/** The fields of an object that differ from an earlier one, by identity. */
export function changedFields<Fields extends object>(
  before: Partial<Fields>,
  now: Fields,
): Partial<Fields> {
  const entries = Object.entries(now) as [keyof Fields, unknown][];
  return Object.fromEntries(
    entries.filter(([name, value]) => value !== undefined && before[name] !== value),
  ) as Partial<Fields>;
}
