import { createHash } from 'node:crypto';
import { RedisCommands } from '../../../lib/redis/commands/redis-commands.js';
import type { ConnectionSettings } from '../../../lib/redis/connection/redis-connection.js';
import { RedisConnections } from '../../../lib/redis/redis-connections.js';
import type { RedisScript } from '../../../lib/redis/script/redis-script.js';
import type { ScriptCall } from '../../../lib/redis/script/script-call.js';

/** Connections whose scripts announce themselves and their place by an `ECHO` before each call, which `MONITOR` shows. */
export class TracedConnections extends RedisConnections {
  override readonly commands: RedisCommands;
  override readonly writes: RedisCommands;

  constructor(settings: ConnectionSettings) {
    super({ ...settings, heartbeat: 60_000 });
    this.commands = this.writes = new TracedCommands(this.servers, settings);
  }
}

class TracedCommands extends RedisCommands {
  override run<Part extends string>(script: RedisScript<Part>, call: ScriptCall<NoInfer<Part>>) {
    return super.run(traced(script), call);
  }
}

/** Every place where a script calls Redis: the function, or the script itself, and the number of the call within it. */
export function placesOf({ name, source }: RedisScript): string[] {
  const places: string[] = [];
  replaceCalls(name, source, (place) => (places.push(place), ''));
  return places;
}

function traced<Part extends string>(script: RedisScript<Part>): RedisScript<Part> {
  const { name, source } = script;
  const [shebang, ...code] = replaceCalls(name, source, (place) => `call_from('${place}', `).split('\n');
  const callFrom = `local function call_from(place, ...) redis.call('ECHO', '${name} ' .. place) return redis.call(...) end`;
  const whole = [shebang, callFrom, ...code].join('\n');
  return { ...script, source: whole, sha1: createHash('sha1').update(whole).digest('hex') };
}

function replaceCalls(script: string, source: string, replace: (place: string) => string): string {
  const outermost = `${script}.lua`;
  let scope = outermost;
  const counts: Record<string, number> = {};
  return source
    .split('\n')
    .map((line) => {
      scope = /^local function (\w+)/.exec(line)?.[1] ?? (line === 'end' ? outermost : scope);
      return line.replaceAll('redis.call(', () => replace(`${scope}#${(counts[scope] = (counts[scope] ?? 0) + 1)}`));
    })
    .join('\n');
}
