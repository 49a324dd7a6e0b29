import type { QueueKeys } from '../../observer/queue-keys.js';
import { countStray } from '../../observer/stray-messages.js';
import { persistently } from '../../servers/persistently.js';
import type { Servers } from '../../servers/servers.js';
import type { Fault } from '../fault.js';
import { untilRepaired } from '../until-repaired.js';

/**
 * An administrator deletes the key that tells when the messages of a queue fall due. The fault lasts until they are repaired, so it
 * explains that messages are late, but neither that they are early nor that they are lost.
 */
export const delayedDeleted: Fault = {
  kind: 'delayed deleted',
  of: 'data',
  costsLeases: false,
  // A message that is repaired while it is due joins the backlog of its group behind others.
  disorders: true,
  strike: async (context, random) => {
    const { servers, queues, open } = context;
    const keys = await chooseQueue(servers, random.shuffled(queues));
    if (!keys) return;
    // No process feels it, so it is no reason for one to stall or to keep what it holds.
    const { delayed } = keys.repaired;
    const close = open([], `DEL ${delayed}`);
    await persistently(() => servers.client.del(delayed));
    await untilRepaired(context, random, () =>
      persistently(async () => (await countStray(servers.client, keys)) === 0),
    );
    close();
  },
};

/** The keys of the first of these queues, or partitions, that has messages which are not due. */
async function chooseQueue({ client }: Servers, queues: readonly QueueKeys[]): Promise<QueueKeys | undefined> {
  for (const keys of queues) {
    if ((await persistently(() => client.exists(keys.repaired.delayed))) > 0) return keys;
  }
  return undefined;
}
