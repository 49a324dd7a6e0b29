/**
 * The name that was most likely meant by one that does not exist: one letter is wrong, missing, too many or swapped with the next.
 *
 * @returns undefined if there is none, or several
 */
export function nearestName(given: string, names: readonly string[]): string | undefined {
  const first = names.findIndex((name) => isOneSlipAway(given, name));
  if (first < 0 || names.some((name, i) => i > first && isOneSlipAway(given, name))) return undefined;
  return names[first];
}

function isOneSlipAway(one: string, other: string): boolean {
  const [shorter, longer] = one.length <= other.length ? [one, other] : [other, one];
  if (shorter === longer || longer.length - shorter.length > 1) return false;
  let start = 0;
  while (start < shorter.length && shorter[start] === longer[start]) start++;
  const rest = longer.slice(start + 1);
  if (shorter.length < longer.length) return shorter.slice(start) === rest;
  const isWrong = shorter.slice(start + 1) === rest;
  const isSwapped = shorter[start] === longer[start + 1] && shorter[start + 1] === longer[start];
  return isWrong || (isSwapped && shorter.slice(start + 2) === longer.slice(start + 2));
}
