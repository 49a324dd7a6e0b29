import { SOAK_USER } from '../../soak-user.js';
import type { Fault } from '../fault.js';

/** The servers close all connections of one type. */
const clientsKilled = (type: 'normal' | 'pubsub', fault: Pick<Fault, 'kind' | 'costsLeases'>): Fault => ({
  ...fault,
  of: 'network',
  strike: async ({ servers, open }) => {
    const close = open('all', `CLIENT KILL TYPE ${type} USER ${SOAK_USER}`);
    await servers.ask('CLIENT', 'KILL', 'TYPE', type, 'USER', SOAK_USER).catch(() => undefined);
    close();
  },
});

export const connectionsKilled = clientsKilled('normal', { kind: 'connections killed', costsLeases: true });
export const subscriptionsKilled = clientsKilled('pubsub', { kind: 'subscriptions killed', costsLeases: false });
