import type { SlotMove } from '../../../support/redis/redis-cluster.js';
import { persistently } from '../../servers/persistently.js';
import type { SoakCluster } from '../../servers/soak-cluster.js';
import type { Fault, FaultContext } from '../fault.js';

/** The keys of a queue, or of one of its partitions, move to another primary one after the other, and later back. */
export const slotMoved: Fault<SoakCluster> = {
  kind: 'slot moved',
  of: 'server',
  // From the first key to the last, calls with several keys are refused.
  costsLeases: true,
  strike: async ({ servers: { cluster }, queues, open, wait }, random) => {
    const { claims: key } = random.pick(queues);
    const pause = random.int(20, 150);
    const source = await persistently(() => cluster.primaryOf(key));
    const primaries = await persistently(() => cluster.primaries());
    const target = random.pick(primaries.filter((member) => member !== source));
    const close = open('all', `the slot of ${key} moved to another primary and back, a key every ${pause} ms`);
    await moveSlowly(await persistently(() => cluster.beginMove(key, target)), { wait, pause });
    await wait(random.int(500, 2000));
    await moveSlowly(await persistently(() => cluster.beginMove(key, source)), { wait, pause });
    close();
  },
};

async function moveSlowly(move: SlotMove, { wait, pause }: Pick<FaultContext, 'wait'> & { pause: number }) {
  while ((await persistently(() => move.moveKeys(1))) > 0) await wait(pause);
  await persistently(() => move.finish());
}
