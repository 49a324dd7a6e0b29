import type { QueueListView, QueueView } from './api.js';
import { type Call, readBoolean, readNumber, readQuery } from './call.js';
import { readRows, rowOf } from './queue-rows.js';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

/** `GET …/queues` */
export async function listQueues({ query, instance }: Call): Promise<QueueListView> {
  const { cursor, limit, prefix = '' } = readQuery(query, ['cursor', 'limit', 'prefix']);
  const wanted = limit === undefined ? DEFAULT_LIMIT : readNumber(limit, 'limit', [1, MAX_LIMIT]);
  const page = await namesFrom(instance.producer, { cursor, limit: wanted, prefix });
  const { rows, now } = await readRows(instance, page.names);
  return { queues: rows, cursor: page.cursor, now: now.toISOString() };
}

/** `GET …/queues/:queue` */
export async function getQueue({ query, instance, params }: Call): Promise<QueueView> {
  const { types } = readQuery(query, ['types']);
  const { producer, workload } = instance;
  const queue = params.queue!;
  const status = await producer.status(queue);
  const { layout, can, now } = status;
  const row = { ...rowOf(queue, status, await workload.of(queue)), layout, can, now: now.toISOString() };
  if (types === undefined || !readBoolean(types, 'types')) return row;
  const byType = [...(await producer.countsByType(queue))];
  return { ...row, types: byType.map(([type, counts]) => ({ type, counts })) };
}

interface NamesQuery {
  readonly cursor: string | undefined;
  readonly limit: number;
  readonly prefix: string;
}

/** Lists the names of queues that begin with a prefix. The names are sorted, and a cursor is the last name before it. */
async function namesFrom(
  producer: Call['instance']['producer'],
  { cursor, limit, prefix }: NamesQuery,
): Promise<{ names: string[]; cursor: string | null }> {
  const names: string[] = [];
  // All names with the prefix come after the prefix without its last character.
  let from = cursor ?? (prefix.length > 1 ? prefix.slice(0, -1) : undefined);
  for (;;) {
    const page = await producer.queues({
      limit: prefix === '' ? limit + 1 : 1000,
      ...(from !== undefined && { cursor: from }),
    });
    for (const name of page.queues) {
      if (!name.startsWith(prefix)) {
        if (name > prefix) return { names, cursor: null };
        continue;
      }
      if (names.length === limit) return { names, cursor: names.at(-1)! };
      names.push(name);
    }
    if (page.cursor === null) return { names, cursor: null };
    from = page.cursor;
  }
}
