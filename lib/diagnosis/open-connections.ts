import type { Events } from '../events/events.js';
import type { ResolvedModuleOptions } from '../options/module-options-schema.js';
import { resolveQueueOptions } from '../options/resolve-options.js';
import { RedisConnections } from '../redis/redis-connections.js';
import { systemClock } from '../timing/clock.js';

type Settings = Pick<ResolvedModuleOptions, 'connection' | 'offerTimeout' | 'scripting'>;

/** Creates the connections of a tool that examines Redis outside an application. They open when they are used. */
export function openConnections({ connection, offerTimeout, scripting }: Settings, events: Events): RedisConnections {
  return new RedisConnections({
    ...{ connection, scripting, clock: systemClock, events },
    commandTimeout: offerTimeout,
    heartbeat: resolveQueueOptions().blockTimeout,
  });
}
