import { expect, test } from '@jest/globals';
import { createStores } from '../../lib/runtime/create-stores.js';
import { resolveModuleOptions } from '../../lib/options/resolve-options.js';
import { systemClock } from '../../lib/timing/clock.js';
import { LoggedEvents } from '../support/logged-events.js';
import { RedisSentinels } from '../support/redis/redis-sentinels.js';
import { useCluster } from '../support/redis/use-cluster.js';
import { Scene } from '../support/scene.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

const SECRET = 'never-log-this';

const scene = new Scene({});
const cluster = useCluster();

const connectedLines = ({ log }: Pick<TestApp, 'log'>) => log.filter((line) => line.includes('Connected to'));
const { host, port } = { host: '127.0.0.1', port: () => Number(new URL(scene.url).port) };

async function linesOf(connection: Parameters<typeof startTestApp>[0]['connection']): Promise<string[]> {
  const app = await startTestApp({ connection, prefix: scene.prefix });
  await app.close();
  return connectedLines(app);
}

test('startup logs the connection once, without the password', async () => {
  await scene.redis.call('ACL', 'SETUSER', 'app', 'on', `>${SECRET}`, '~*', '&*', '+@all');

  const lines = await linesOf(`redis://app:${SECRET}@${host}:${port()}/3`);

  expect(lines).toEqual([
    expect.stringMatching(
      new RegExp(`^log Connected to (Redis|Valkey) [\\d.]+ at ${host}:${port()}, database 3, prefix ${scene.prefix}$`),
    ),
  ]);
});

test('an application that starts without Redis logs the connection once Redis is up', async () => {
  await scene.server.kill9();
  const app = await startTestApp({ connection: scene.url, offerTimeout: 100 });
  expect(connectedLines(app)).toEqual([]);

  await scene.server.restart();

  await until(() => connectedLines(app).length > 0);
  expect(connectedLines(app)).toEqual([expect.stringContaining(` at ${host}:${port()}, database 0, `)]);
  await app.close();
});

test.each([
  ['no `connection`', undefined],
  ['a `connection` whose host is undefined', { host: undefined, port: undefined }],
] as const)('the log mentions the default connection if the options have %s', async (_what, connection) => {
  const events = new LoggedEvents();
  const options = { ...resolveModuleOptions({ connection }), connection: scene.url };
  const stores = createStores(options, { clock: systemClock, events });

  stores.connect();
  await stores.check([]);
  await stores.close();

  const reason = ', prefix delay-queue (default connection: `connection` names no server)';
  expect(events.lines).toEqual([expect.stringMatching(/^log Connected to .* at .*, database 0/)]);
  expect(events.lines).toEqual([expect.stringContaining(reason)]);
});

test('the log says how many primaries a cluster has and names the address of one', async () => {
  const { nodes } = cluster();

  const [line] = await linesOf({ cluster: { nodes } });

  const [, primaries, address] = /, a cluster of (\d) primaries, one at (\S+), prefix /.exec(line!)!;
  expect(primaries).toBe('3');
  expect(nodes.map((node) => `${node.host}:${node.port}`)).toContain(address);
});

test('the log names the primary behind the sentinels, along with its address', async () => {
  const servers = await RedisSentinels.start();
  try {
    const [line] = await linesOf(servers.connection);

    const { host: masterHost } = new URL((await servers.primary()).url);
    expect(line).toContain(
      ` at ${masterHost}, the primary '${servers.connection.name}' of its sentinels, database 0, `,
    );
  } finally {
    await servers.stop();
  }
});
