import type { Callback, Redis } from 'ioredis';
import type { Events } from '../events/events.js';
import type { RedisClient } from './redis-client.js';
import { isErrorReply } from './redis-errors.js';

type SendAuth = (login: never, callback?: Callback<'OK'>) => Promise<'OK'>;

/** The errors that ioredis takes for no refusal: it writes them to the console, past the logger, and goes on. */
const IGNORED =
  /no password is set|without any password configured for the default user|wrong number of arguments for 'auth'/;

/** Whose listeners have been told. */
const told = new WeakSet<Events>();

/** Emits an event, once, if a server says that it does not use the login that it is given. */
export function reportIgnoredLogin(client: RedisClient, events: Events): void {
  if (client.isCluster) client.on('+node', (node: Redis) => reportIgnoredLogin(node, events));
  else client.auth = tolerant(client.auth.bind(client), events) as typeof client.auth;
}

function tolerant(sendAuth: SendAuth, events: Events): SendAuth {
  const isIgnored = (error: unknown) => {
    if (!isErrorReply(error) || !IGNORED.test(error.message)) return false;
    if (!told.has(events)) events.note('login-ignored', { reason: error.message });
    told.add(events);
    return true;
  };
  // Version 5 of ioredis gives a callback, version 6 awaits the promise.
  return (login, callback) => {
    if (callback) {
      return sendAuth(login, (error, answer) => (isIgnored(error) ? callback(null, 'OK') : callback(error, answer)));
    }
    return sendAuth(login).catch((error: unknown) => {
      if (isIgnored(error)) return 'OK';
      throw error;
    });
  };
}
