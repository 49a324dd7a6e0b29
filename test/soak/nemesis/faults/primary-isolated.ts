import { setTimeout as sleep } from 'node:timers/promises';
import { isErrorReply } from '../../../../lib/redis/redis-errors.js';
import { persistently } from '../../servers/persistently.js';
import type { Primary } from '../../servers/replicated-servers.js';
import type { SoakCluster } from '../../servers/soak-cluster.js';
import type { Fault } from '../fault.js';
import type { Span } from '../fault-window.js';

const LOOK = 20;

/**
 * The network splits: a primary is alive and its clients reach it, but neither its replica nor the other primaries do. It accepts
 * writes, which are lost once it has been replaced, until it notices. With min-replicas-to-write it notices that its replica is
 * silent. Every other time the split is over before it is replaced.
 */
export const primaryIsolated: Fault<SoakCluster> = {
  kind: 'primary isolated',
  of: 'server',
  costsLeases: true,
  replaces: true,
  strike: async ({ servers, now, open, wait }, random, turn) => {
    const isReplaced = turn % 2 === 0;
    const asksReplicas = turn % 4 < 2;
    const primary = await servers.choosePrimary(random);
    const { member, server } = primary;
    const set = (...settings: readonly (string | number)[]) =>
      persistently(() => servers.cluster.ask(member, 'CONFIG', 'SET', ...settings));
    const length = random.int(300, servers.patience);
    const detail = `${isReplaced ? 'until after it is replaced' : `for ${length} ms`}${asksReplicas ? ', with min-replicas-to-write 1' : ''}`;
    const close = open('all', `the primary at port ${server.port} cut off from the other servers ${detail}`);
    const from = now();
    await primary.replicate();
    if (asksReplicas) await set('min-replicas-to-write', 1, 'min-replicas-max-lag', 1);
    const heal = servers.cluster.isolate(member);
    const watch = watchAcceptance(primary, { from, now });
    if (isReplaced) await primary.untilReplaced();
    await wait(length);
    heal();
    await set('min-replicas-to-write', 0);
    await servers.untilWhole();
    const accepted = await watch.end();
    close((await primary.isReplaced()) ? [accepted] : []);
  },
};

/** Watches until when a primary accepts writes. */
function watchAcceptance(
  primary: Primary,
  { from, now }: { from: number; now: () => number },
): { end(): Promise<Span> } {
  let to = now();
  let isOver = false;
  const watching = (async () => {
    for (let isAccepting = true; !isOver; await sleep(LOOK)) {
      const accepted = await primary.write().then(
        () => true,
        // One that does not answer in time may still accept it.
        (error: unknown) => !isErrorReply(error),
      );
      // It may have accepted something between the last write and the first refusal.
      if (accepted || isAccepting) to = now();
      isAccepting = accepted;
    }
  })();
  return {
    end: async () => {
      isOver = true;
      await watching;
      return { from, to };
    },
  };
}
