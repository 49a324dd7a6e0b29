import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';

/** How many connections are opened while it runs to where it is told that Redis is; nobody answers there. */
export async function countConnections(run: (url: string) => Promise<unknown>): Promise<number> {
  let count = 0;
  const server = createServer((socket) => {
    count++;
    socket.destroy();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    await run(`redis://127.0.0.1:${(server.address() as AddressInfo).port}`);
    // One that was opened just before the end is still to be accepted.
    await turn();
    return count;
  } finally {
    server.close();
  }
}
