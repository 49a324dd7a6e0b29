import type { Callback, Redis } from 'ioredis';
import type { Events } from '../../events/events.js';
import { isErrorReply, lacksPermission, unknownCommand } from '../redis-errors.js';
import type { RedisClient } from './redis-client.js';

type SendInfo = (callback?: Callback<string>) => Promise<string>;
type SendHello = (...words: unknown[]) => Promise<unknown>;
type SendAuth = (login: string | readonly string[], callback?: Callback<'OK'>) => Promise<'OK'>;

/** The errors that ioredis does not take for a refusal: it writes them to the console, past the logger, and continues. */
const IGNORED_LOGIN =
  /no password is set|without any password configured for the default user|wrong number of arguments for 'auth'/;

/** Those that have been notified of an ignored login. */
const notified = new WeakSet<Events>();

/**
 * Lets a client become ready on a server that refuses part of ioredis' greeting. ioredis writes some of these errors to the
 * console, past the logger; others keep it from becoming ready.
 */
export function tolerateRefusedGreeting(client: RedisClient, events: Events): void {
  if (client.isCluster) {
    client.on('+node', (node: Redis) => tolerateRefusedGreeting(node, events));
    return;
  }
  client.info = withoutInfo(client.info.bind(client)) as typeof client.info;
  client.auth = withIgnoredLogin(client.auth.bind(client) as SendAuth, events) as typeof client.auth;
  client.hello = withLoginCheck(client as Redis, events) as typeof client.hello;
}

/** ioredis sends `INFO` to wait for a server that is still loading its data. The user may not be allowed to send it. */
function withoutInfo(sendInfo: SendInfo): SendInfo {
  return (callback) =>
    // Only ioredis gives a callback.
    callback === undefined
      ? sendInfo()
      : sendInfo((error, info) => {
          if (lacksPermission(error) || unknownCommand(error) !== undefined) callback(null, '');
          else callback(error, info);
        });
}

/**
 * Logs in once more by AUTH. HELLO, with which version 6 of ioredis logs in, takes any password for a user without one, and only AUTH
 * with a password alone says so. It is about the user `default`, so nothing is known of others.
 */
function withLoginCheck(client: Redis, events: Events): SendHello {
  const sendHello = client.hello.bind(client) as SendHello;
  return async (...words) => {
    const answer = await sendHello(...words);
    const [, word, user, password] = words.flat();
    // HELLO has accepted the password. Whatever else fails is reported by the commands that follow.
    if (word === 'AUTH' && user === 'default' && !notified.has(events))
      client.auth(password as string).catch(() => undefined);
    return answer;
  };
}

/** Emits an event, once, if a server says that it does not use the login that it is given. */
function withIgnoredLogin(sendAuth: SendAuth, events: Events): SendAuth {
  const isIgnored = (error: unknown) => {
    if (!isErrorReply(error) || !IGNORED_LOGIN.test(error.message)) return false;
    if (!notified.has(events)) events.note('login-ignored', { reason: error.message });
    notified.add(events);
    return true;
  };
  // Version 5 of ioredis gives a callback, version 6 awaits the promise.
  return (login, callback) => {
    // With the name of the user, any password would be taken.
    const words = Array.isArray(login) && login[0] === 'default' ? (login[1] as string) : login;
    if (callback)
      return sendAuth(words, (error, answer) => (isIgnored(error) ? callback(null, 'OK') : callback(error, answer)));
    return sendAuth(words).catch((error: unknown) => {
      if (isIgnored(error)) return 'OK';
      throw error;
    });
  };
}
