import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { startTestApp } from '../support/test-app.js';
import { OutboxModule } from '../../packages/outbox/src/index.js';
import { openLibrary } from './library.js';

describe('a database that accepts connections and never answers', () => {
  const sockets = new Set<Socket>();
  let server: Server;
  beforeAll(async () => {
    server = createServer((socket) => void sockets.add(socket.on('error', () => undefined))).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => void server.close());

  it.each([
    ['pg', 'postgresql'],
    ['mysql2', 'mysql'],
  ])('does not prevent applications from starting and stopping, through %s', async (library, scheme) => {
    const { port } = server.address() as AddressInfo;
    const { database } = await openLibrary(library, `${scheme}://root@127.0.0.1:${port}/test`);
    const began = performance.now();
    const { log, close } = await startTestApp({ store: 'memory' }, { imports: [OutboxModule.forRoot({ database })] });
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(log).toContainEqual(expect.stringContaining('could not be checked'));
    await close();
    expect(performance.now() - began).toBeLessThan(30_000);
    for (const socket of sockets) socket.destroy();
  });
});
