import { DelayQueueError } from '../message/delay-queue-errors.js';
import type { Stores } from '../runtime/create-stores.js';
import type { Queue } from '../runtime/queues.js';

/**
 * Checks that all messages of a queue can be read, or written as they were.
 * @throws DelayQueueError `UNSUPPORTED_BY_LAYOUT`, `INVALID_OPTION`
 */
export async function assertExportable(queue: Queue, groupsCheck: Stores['groupsCheck']): Promise<void> {
  const { name, options, router } = queue;
  if (!router.stores.every((store) => 'scan' in store)) {
    const problem = `queue '${name}' has the layout '${options.layout.name}', which can neither be exported nor imported`;
    throw new DelayQueueError(
      'UNSUPPORTED_BY_LAYOUT',
      `${problem}: offer its messages to another queue instead, as the documentation of the layout shows`,
    );
  }
  if (!(await groupsCheck?.ignoresGroups({ name, options }))) return;
  const problem = `queue '${name}' has messages with groups, which this process ignores`;
  throw new DelayQueueError('INVALID_OPTION', `${problem}: set queues['${name}'].groups`);
}
