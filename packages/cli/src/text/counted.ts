/** Shows a number of things: `1 byte`, `2 bytes`. */
export function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`;
}
