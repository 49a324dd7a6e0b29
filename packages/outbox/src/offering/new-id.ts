import { randomBytes } from 'node:crypto';

const ORIGIN = randomBytes(6).toString('hex');

let time = 0;
let count = 0;

/**
 * Makes the id of a row, and of its message, if none was given. Ids of one process sort in the order in which they were made, because
 * messages due in the same millisecond are handled in the order of their ids. They are not the numbers of the rows: those start again in a
 * new table, while messages may wait for years.
 */
export function newId(): string {
  const now = Date.now();
  if (now > time) {
    time = now;
    count = 0;
  } else if (++count === 36 ** 4) {
    time++;
    count = 0;
  }
  return `${time.toString(36).padStart(9, '0')}${count.toString(36).padStart(4, '0')}${ORIGIN}`;
}
