import type { Fault } from '../fault.js';

const REPLIES = [
  'LOADING Redis is loading the dataset in memory',
  "READONLY You can't write against a read only replica.",
  'TRYAGAIN Multiple keys request during rehashing of slot',
] as const;

/** As in a failover, half of the script calls are answered with an error for a while. */
export const errorReplies: Fault = {
  kind: 'error replies',
  of: 'network',
  costsLeases: false,
  strike: async ({ fleet, servers, open, wait }, random) => {
    const reply = random.pick(REPLIES);
    const close = open(fleet.behindProxy, `half of the calls get ${reply}`);
    let over = false;
    servers.network.refuse(({ command }) => !over && command.startsWith('EVAL') && random.chance(0.5), reply, Infinity);
    await wait(random.int(300, 1000));
    over = true;
    close();
  },
};
