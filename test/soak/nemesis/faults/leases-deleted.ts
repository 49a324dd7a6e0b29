import { countUnleased } from '../../observer/stray-messages.js';
import { persistently } from '../../servers/persistently.js';
import type { Fault } from '../fault.js';
import { untilRepaired } from '../until-repaired.js';

/** For how long it deletes what consumers extend, ms: whoever is killed or frozen meanwhile leaves claims without a lease. */
const MIN_LENGTH = 2000;
const MAX_LENGTH = 6000;
const STEP = 200;

/**
 * An administrator deletes the leases of all queues, again and again. Consumers that live keep what they hold, so nothing is handled twice
 * because of it. It lasts until each claim has a lease, and explains until then that nobody handles what is held.
 */
export const leasesDeleted: Fault = {
  kind: 'leases deleted',
  // One at a time: the next one would delete what a repair has just mended.
  of: 'server',
  costsLeases: false,
  strike: async (context, random) => {
    const { servers, queues, open, wait } = context;
    const length = random.int(MIN_LENGTH, MAX_LENGTH);
    const close = open('all', `DEL of all leases, every ${STEP} ms for ${length} ms`);
    for (let passed = 0; passed < length; passed += STEP) {
      for (const { repaired } of queues) await persistently(() => servers.client.del(repaired.leases));
      await wait(STEP);
    }
    await untilRepaired(context, random, () =>
      persistently(async () => {
        const counts = await Promise.all(queues.map((keys) => countUnleased(servers.client, keys)));
        return counts.every((count) => count === 0);
      }),
    );
    close();
  },
};
