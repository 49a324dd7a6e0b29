import { randomInt } from 'node:crypto';

const ATTEMPTS = 20;

/** The port is in use: another one is worth a try. */
export class PortInUseError extends Error {}

/** A port below those that systems give to outgoing connections; it may be in use. */
export const randomPort = () => randomInt(20_000, 32_000);

/**
 * Calls `start` with random ports until one is free.
 *
 * The port is taken, not looked up first, so nobody can snatch it in between. And it lies below the ports that systems
 * give to outgoing connections: while a server is down, no client (not even one reconnecting to it) is given its port.
 */
export async function onRandomPort<T>(start: (port: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(randomPort());
    } catch (error) {
      if (!(error instanceof PortInUseError) || attempt === ATTEMPTS) throw error;
    }
  }
}
