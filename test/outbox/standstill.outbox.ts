import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { startMariadb } from '../support/databases/start-mariadb.js';
import { startPostgresql } from '../support/databases/start-postgresql.js';
import { argumentsFor, ENVIRONMENT, setUpPrograms } from '../support/run-program.js';
import { until } from '../support/until.js';
import { relayed } from './outbox.rules.js';
import { OutboxScene } from './outbox-scene.js';
import type { StandstillSettings } from './standstill.program.js';

describe.each([
  ['pg', startPostgresql],
  ['mysql2', startMariadb],
] as const)('a relay that is suspended for longer than its lease, through %s,', (library, start) => {
  let url = '';
  const scene = new OutboxScene(library, async () => {
    const { server, url: ofServer } = await start();
    url = ofServer;
    return { url, stop: () => server.stop() };
  });
  let removePrograms: () => void;
  beforeAll(() => void (removePrograms = setUpPrograms()));
  afterAll(() => removePrograms());

  it('does not restore a message that was cancelled in the meantime', async () => {
    const queue = scene.newQueue();
    const writer = await scene.startApp({ outbox: { relay: false } });
    const settings: StandstillSettings = { library, databaseUrl: url, table: await scene.table(), ...scene.target };
    const args = [...argumentsFor(new URL('./standstill.program.ts', import.meta.url)), JSON.stringify(settings)];
    const child = spawn(process.execPath, args, { env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'inherit'] });
    const said: string[] = [];
    createInterface(child.stdout).on('line', (line) => said.push(line));
    try {
      await until(() => said.includes('ready'), { within: 30_000 });
      await scene.transact((transaction) => writer.outbox.offer(transaction, queue, null, '1h', { id: 'm' }));
      await until(() => said.includes('stands still'), { within: 10_000 });
      const app = await scene.startApp({ outbox: { pollInterval: 50 } });
      await until(async () => (await app.producer.find(queue, 'm')) !== null, { within: 10_000 });
      await scene.transact((transaction) => writer.outbox.cancel(transaction, queue, 'm'));
      await relayed(writer);
      expect(await app.producer.find(queue, 'm')).toBeNull();
      child.kill('SIGCONT');
      await until(() => said.some((line) => line.startsWith('went on')), { within: 10_000 });
      expect(said.at(-1)).toBe('went on: refused');
      expect(await app.producer.find(queue, 'm')).toBeNull();
    } finally {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    }
  });

  it('cannot start if calls may outlast its lease', async () => {
    await expect(scene.startApp({ module: { offerTimeout: 600 }, outbox: { lease: '1s' } })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: 'OutboxModule: lease: 1000 ms must be at least twice offerTimeout of the delay queue, which is 600 ms',
    });
    // A process that only writes has no lease.
    await scene.startApp({ module: { offerTimeout: 600 }, outbox: { lease: '1s', relay: false } });
  });
});
