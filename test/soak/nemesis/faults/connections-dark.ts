import type { ProxiedConnection } from '../../../support/tcp-proxy/proxied-connection.js';
import type { ConnectionFilter } from '../../../support/tcp-proxy/faults.js';
import { BLOCK_TIMEOUT } from '../../workload/message-plan.js';
import type { Fault, FaultContext } from '../fault.js';

/** By then a client must have noticed: a BLPOP gets five seconds beyond its timeout, and the rest is for a busy machine. */
const MAX_DARKNESS = BLOCK_TIMEOUT + 8000;
const LOOK = 100;

/** Half-open connections: bytes are dropped both ways without an error, until the clients notice by themselves. */
const darkness = (fault: Pick<Fault, 'kind' | 'costsLeases'>, which: ConnectionFilter): Fault => ({
  ...fault,
  of: 'network',
  strike: async (context, random) => {
    const {
      fleet,
      servers: { network },
      open,
    } = context;
    const chosen = network.connections.filter(
      (connection) => connection.isOpen && which(connection) && random.chance(0.4),
    );
    const close = open(fleet.behindProxy, `${chosen.length} connections went dark`);
    const stopDarkening = network.goDark((connection) => chosen.includes(connection));
    await untilGivenUp(context, chosen);
    stopDarkening();
    // The server would keep its end open until its keepalive fails.
    for (const connection of chosen) connection.destroy();
    close();
  },
});

async function untilGivenUp({ wait }: FaultContext, connections: readonly ProxiedConnection[]): Promise<void> {
  for (let waited = 0; waited < MAX_DARKNESS; waited += LOOK) {
    if (!connections.some((connection) => connection.isOpen)) return;
    await wait(LOOK);
  }
}

export const connectionsDark = darkness(
  { kind: 'connections dark', costsLeases: true },
  ({ name }) => name !== 'delay-queue:announcements',
);
export const subscribersDark = darkness(
  { kind: 'subscribers dark', costsLeases: false },
  ({ name }) => name === 'delay-queue:announcements',
);
