import { createHash } from 'node:crypto';
import { type RedisCommand, RedisCommands } from '../../../lib/redis/commands/redis-commands.js';
import type { ConnectionSettings } from '../../../lib/redis/connection/redis-connection.js';
import { RedisConnections } from '../../../lib/redis/redis-connections.js';
import type { RedisFunction, RedisLibrary } from '../../../lib/redis/script/redis-library.js';
import type { ScriptCall } from '../../../lib/redis/script/script-call.js';

/** Connections whose functions announce themselves and their place by an `ECHO` before each call, which `MONITOR` shows. */
export class TracedConnections extends RedisConnections {
  override readonly commands: RedisCommands;
  override readonly writes: RedisCommands;

  constructor(settings: ConnectionSettings) {
    super({ ...settings, heartbeat: 60_000 });
    this.commands = this.writes = new TracedCommands(this.servers, settings);
  }
}

class TracedCommands extends RedisCommands {
  override run<Part extends string>(called: RedisFunction<Part> | RedisCommand, call?: ScriptCall<NoInfer<Part>>) {
    return super.run('words' in called ? called : traced(called), call);
  }
}

/** Every place in a library where it calls Redis: the Lua function, or the function of the library, and the number of the call within it. */
export function placesIn(source: string): string[] {
  const places: string[] = [];
  replaceCalls(source, (place) => (places.push(place), ''));
  return places;
}

function traced<Part extends string>(called: RedisFunction<Part>): RedisFunction<Part> {
  const scripts = called.scripts.map(({ source }, i) => {
    const isShort = i === 0 && (called.name === 'offer' || called.name === 'settle');
    const script = withTrace(source, isShort ? `${called.name}-short` : called.name).replace(
      'local traced_function\n',
      `local traced_function = '${called.name}'\n`,
    );
    return { source: script, sha1: createHash('sha1').update(script).digest('hex') };
  });
  return {
    ...called,
    calledAs: `${called.calledAs}_traced`,
    library: { name: `${called.library.name}_traced`, source: tracedLibrary(called.library) } as RedisLibrary,
    scripts,
  };
}

function tracedLibrary({ name, source }: RedisLibrary): string {
  return withTrace(source)
    .replace(`name=${name}`, `name=${name}_traced`)
    .replace(/local DIGEST = '(\w+)'/, "local DIGEST = '$1_traced'")
    .replace(
      'local function callback(keys, args)\n',
      "local function callback(keys, args)\ntraced_function = string.gsub(name, '_', '-')\n",
    );
}

function withTrace(source: string, name?: string): string {
  const callFrom = [
    'local traced_function',
    'local function call_from(place, ...)',
    "redis.call('ECHO', traced_function .. ' ' .. place)",
    'return redis.call(...)',
    'end',
  ];
  const [shebang, ...code] = replaceCalls(source, (place) => `call_from('${place}', `, name).split('\n');
  return [shebang, ...callFrom, ...code].join('\n');
}

/** @param name - of the function, if the source is a script; in a library, each function comes before its registration */
function replaceCalls(source: string, replace: (place: string) => string, name?: string): string {
  let scope = '';
  const counts: Record<string, number> = {};
  const lines = source.split('\n');
  return lines
    .map((line, i) => {
      const [, started] = /^(?:local )?function ([\w.]+)/.exec(line) ?? [];
      if (started === 'run' || started === 'short') {
        const registered = lines.slice(i).find((each) => each.startsWith("register('"));
        const of = /'(\w+)'/.exec(registered ?? '')?.[1]?.replaceAll('_', '-');
        scope = started === 'run' ? `${of}` : `${of}-short`;
      } else if (name !== undefined && line === 'local keys, args = KEYS, ARGV') scope = name;
      else if (started !== undefined) scope = started.replace(/^([A-Z]\w*?)_/, '$1.');
      return line.replace(/(?<![\w.])call\(/g, () => replace(`${scope}#${(counts[scope] = (counts[scope] ?? 0) + 1)}`));
    })
    .join('\n');
}
