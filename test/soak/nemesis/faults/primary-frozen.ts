import type { ReplicatedServers } from '../../servers/replicated-servers.js';
import type { Fault } from '../fault.js';

/**
 * A primary that stands still: for so short a time that it stays the primary, and the next time until it has been replaced. Then
 * it goes on as if it still were the primary, until it learns better.
 */
export const primaryFrozen: Fault<ReplicatedServers> = {
  kind: 'primary frozen',
  of: 'server',
  costsLeases: true,
  replaces: true,
  strike: async ({ servers, now, open, wait }, random, turn) => {
    const isReplaced = turn % 2 === 0;
    const length = Math.round(servers.patience * (0.2 + 0.5 * random.next()));
    const primary = await servers.choosePrimary(random);
    const until = isReplaced ? 'until it is replaced' : `for ${length} ms`;
    const close = open('all', `SIGSTOP to the primary at port ${primary.server.port} ${until}`);
    const from = now();
    await primary.replicate();
    await primary.server.freeze();
    const before = { from, to: now() };
    if (isReplaced) await primary.untilReplaced();
    await wait(length);
    const thawedAt = now();
    await primary.server.thaw();
    await servers.untilWhole();
    close((await primary.isReplaced()) ? [before, { from: thawedAt, to: now() }] : []);
  },
};
