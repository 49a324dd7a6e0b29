import type { Fault } from '../fault.js';

/** The server closes connections of a type. */
const clientsKilled = (type: 'normal' | 'pubsub', kind: string): Fault => ({
  kind,
  of: 'network',
  strike: async ({ admin, log }) => {
    const close = log.open(kind, 'all', `CLIENT KILL TYPE ${type}`);
    await admin.call('CLIENT', 'KILL', 'TYPE', type, 'SKIPME', 'yes').catch(() => undefined);
    close();
  },
});

export const connectionsKilled = clientsKilled('normal', 'connections killed');
export const subscriptionsKilled = clientsKilled('pubsub', 'subscriptions killed');
