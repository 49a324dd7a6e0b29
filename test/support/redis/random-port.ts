import { randomInt } from 'node:crypto';

const ATTEMPTS = 20;

/** The port is in use: another one is worth a try. */
export class PortInUseError extends Error {}

/**
 * A port that may be in use. It lies below the ports that systems give to outgoing connections (from 32,768 on), and so does
 * the one 10,000 above it, where a server of a cluster listens to the others.
 */
export const randomPort = () => randomInt(10_000, 22_768);

/**
 * Calls `start` with random ports until one is free.
 *
 * The port is taken, not looked up first, so nobody can snatch it in between. And while a server
 * is down, no outgoing connection (not even one of a client that reconnects to it) is given its port.
 */
export const onRandomPort = <T>(start: (port: number) => Promise<T>): Promise<T> =>
  onFreePorts(() => start(randomPort()));

/** Calls `start`, which chooses its own ports, again if one of them was in use. */
export async function onFreePorts<T>(start: () => Promise<T>, attempts = ATTEMPTS): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start();
    } catch (error) {
      if (!(error instanceof PortInUseError) || attempt === attempts) throw error;
    }
  }
}
