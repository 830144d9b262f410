/**
 * Assigns people to places, so that as many as possible have one: a largest bipartite matching.
 * `places` says how many people each requirement needs, and `fits` which requirements each person
 * may fill. Returns how many people each requirement got.
 * Contract: pure; each person fills at most one place. Kuhn's algorithm: a person who finds no free
 * place takes that of another person, who has a place elsewhere.
 */
export function assignPeople(
  places: readonly number[],
  fits: readonly (readonly number[])[],
): readonly number[] {
  const held = places.map((): number[] => []);
  const findPlace = (person: number, tried: Set<number>): boolean =>
    (fits[person] ?? []).some((at) => {
      const people = held[at];
      if (!people || tried.has(at)) return false;
      tried.add(at);
      if (people.length < (places[at] ?? 0)) return people.push(person) > 0;
      const moving = people.findIndex((other) => findPlace(other, tried));
      if (moving >= 0) people[moving] = person;
      return moving >= 0;
    });
  for (const person of fits.keys()) findPlace(person, new Set());
  return held.map((people) => people.length);
}
