/** How many names are suggested at most. */
const MOST = 3;

/** The names that somebody who typed this may have meant, nearest first. */
export function nearest(typed: string, names: readonly string[]): string[] {
  const furthest = Math.max(2, Math.floor(typed.length / 3));
  return names
    .map((name) => ({ name, distance: editDistance(typed.toLowerCase(), name.toLowerCase(), furthest) }))
    .filter(({ distance }) => distance <= furthest)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, MOST)
    .map(({ name }) => name);
}

/** How many characters to add, remove or replace to get from one text to another; any larger number if it is over `limit`. */
function editDistance(from: string, to: string, limit: number): number {
  if (Math.abs(from.length - to.length) > limit) return limit + 1;
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[to.length]!;
}
