/** The maximum number of suggestions. */
const MAX_SUGGESTIONS = 3;

/** Returns similar names, nearest first. Names that differ only in digits, as those of tenants may, are not taken for misspellings. */
export function nearestNames(written: string, names: Iterable<string>): string[] {
  const furthest = Math.max(2, Math.floor(written.length / 3));
  const near: { name: string; distance: number }[] = [];
  for (const name of names) {
    const distance = editDistance(written.toLowerCase(), name.toLowerCase(), furthest);
    if (distance <= furthest && withoutDigits(name) !== withoutDigits(written)) near.push({ name, distance });
  }
  near.sort((a, b) => a.distance - b.distance);
  return near.slice(0, MAX_SUGGESTIONS).map(({ name }) => name);
}

const withoutDigits = (name: string) => name.replace(/\d/g, '');

/** Returns how many characters to add, remove or replace to turn one name into the other, or any number above `limit` if it takes more. */
function editDistance(from: string, to: string, limit: number): number {
  if (Math.abs(from.length - to.length) > limit) return limit + 1;
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    if (Math.min(...next) > limit) return limit + 1;
    row = next;
  }
  return row[to.length]!;
}
