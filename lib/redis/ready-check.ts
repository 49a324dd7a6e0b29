import type { Callback, Redis } from 'ioredis';
import type { RedisClient } from './redis-client.js';
import { lacksPermission, unknownCommand } from './redis-errors.js';

type SendInfo = (callback?: Callback<string>) => Promise<string>;

/**
 * Lets a client become ready without INFO. ioredis asks for it, to wait for a server that is still loading its data. If the user may
 * not send it, ioredis writes to the console, past the logger; if the server does not know it, it never becomes ready.
 */
export function doWithoutInfo(client: RedisClient): void {
  if (client.isCluster) client.on('+node', (node: Redis) => doWithoutInfo(node));
  else client.info = tolerant(client.info.bind(client)) as typeof client.info;
}

function tolerant(sendInfo: SendInfo): SendInfo {
  // Only ioredis gives a callback.
  return (callback) => {
    if (!callback) return sendInfo();
    return sendInfo((error, info) => {
      if (lacksPermission(error) || unknownCommand(error) !== undefined) callback(null, '');
      else callback(error, info);
    });
  };
}
