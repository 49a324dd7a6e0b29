import { loadScript, type RedisScript } from '../../redis/script/redis-script.js';
import { readLua } from './lua-files.js';
import { loadAll, type NativeScripts } from './native-scripts.js';
import { type LaneKeys, laneKeys } from './lane-keys.js';

const layout = laneKeys('', '');

const load = (name: string) => loadScript(`native/${name}`, layout, { native: readLua }, 'lanes');

type LaneScripts = NativeScripts & { readonly group: RedisScript<keyof LaneKeys> };

let loaded: LaneScripts | undefined;

/** The scripts of the native layout, for messages that have groups. They are loaded when they are first needed. */
export function laneScripts(): LaneScripts {
  // Whoever passes them the native keys of messages with groups passes the others, too.
  return (loaded ??= { ...loadAll(load as Parameters<typeof loadAll>[0]), group: load('group') });
}
