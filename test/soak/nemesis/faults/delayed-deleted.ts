import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../../support/until.js';
import type { QueueKeys } from '../../observer/queue-keys.js';
import { countStray } from '../../observer/stray-messages.js';
import type { Random } from '../../random.js';
import { persistently } from '../../servers/persistently.js';
import type { Servers } from '../../servers/servers.js';
import type { Fault, FaultContext } from '../fault.js';

/** How long the administrator waits for a repair by itself before restarting workers, ms. */
const LONGEST_PATIENCE = 8000;

/** How long a worker that was started has for the repair before another one is started, ms. */
const REPAIR_TIME = 3000;

/** How many workers the administrator starts before giving up. */
const MOST_STARTS = 10;

const POLL_INTERVAL = 100;

/**
 * An administrator deletes the key that tells when the messages of a queue fall due, and restarts a worker unless somebody repairs the
 * queue before: every worker does so at its start and every five minutes. The fault lasts until then, so it explains that messages are
 * late, but neither that they are early nor that they are lost.
 */
export const delayedDeleted: Fault = {
  kind: 'delayed deleted',
  of: 'data',
  costsLeases: false,
  // What is repaired while it is due joins the line of its group behind others.
  disorders: true,
  strike: async (context, random) => {
    const { servers, queues, open, wait } = context;
    const keys = await chooseQueue(servers, random.shuffled(queues));
    if (!keys) return;
    // No process feels it, so it is no reason for one to stall or to keep what it holds.
    const { delayed } = keys.repaired;
    const close = open([], `DEL ${delayed}`);
    await persistently(() => servers.client.del(delayed));
    let isPatient = true;
    void wait(random.int(0, LONGEST_PATIENCE)).then(() => (isPatient = false));
    const isRepaired = () => persistently(async () => (await countStray(servers.client, keys)) === 0);
    while (isPatient && !(await isRepaired())) await sleep(POLL_INTERVAL);
    for (let starts = 0; starts < MOST_STARTS && !(await isRepaired()); starts++) {
      await restartWorker(context, random);
      await until(isRepaired, { within: REPAIR_TIME, every: POLL_INTERVAL }).catch(() => undefined);
    }
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

async function restartWorker({ fleet }: FaultContext, random: Random): Promise<void> {
  await fleet.withOne(
    random,
    ({ role, veteran }) => role === 'worker' && !veteran,
    async (berth) => {
      const old = berth.process;
      await fleet.replace(berth);
      await old.kill('SIGTERM');
    },
  );
}
