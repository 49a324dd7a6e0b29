import type { Fault } from '../fault.js';

/** The server closes all connections of one type. */
const clientsKilled = (type: 'normal' | 'pubsub', fault: Pick<Fault, 'kind' | 'costsLeases'>): Fault => ({
  ...fault,
  of: 'network',
  strike: async ({ admin, open }) => {
    const close = open('all', `CLIENT KILL TYPE ${type}`);
    await admin.call('CLIENT', 'KILL', 'TYPE', type, 'SKIPME', 'yes').catch(() => undefined);
    close();
  },
});

export const connectionsKilled = clientsKilled('normal', { kind: 'connections killed', costsLeases: true });
export const subscriptionsKilled = clientsKilled('pubsub', { kind: 'subscriptions killed', costsLeases: false });
