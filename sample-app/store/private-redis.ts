import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '../start-error.js';
import { isServing } from './ask-redis.js';
import { lockFolder } from './folder-lock.js';
import { keepProcess } from './keeper.js';

const PORTS_TRIED = 10;
const START_TIMEOUT = 20_000;
const PAUSE = 20;
const REVIVED_AFTER = 3000;
const LOG = 'redis.log';

/**
 * Starts a Redis for this process alone, on the loopback interface. Its data survives both.
 *
 * @returns its URL
 * @throws StartError
 */
export async function startPrivateRedis(server: string, dataFolder: string): Promise<string> {
  mkdirSync(dataFolder, { recursive: true });
  const folder = realpathSync(dataFolder);
  for (let tried = 0; tried < PORTS_TRIED; tried++) {
    // Below the range that systems use for outgoing connections. If the port is in use, Redis exits.
    const port = randomInt(20_000, 32_000);
    const url = `redis://127.0.0.1:${port}`;
    await lockFolder(join(folder, 'lock'), { pid: process.pid, url });
    const start = () => keepProcess([server, ...serverArguments(port, folder)], { signal: 'TERM' });
    const keeper = start();
    if (await isUp(url, folder, keeper)) {
      revive(keeper, start);
      return url;
    }
  }
  throw new StartError(`${server} did not start; ${join(folder, LOG)} says why`);
}

function serverArguments(port: number, folder: string): string[] {
  const options = {
    bind: '127.0.0.1',
    port: String(port),
    dir: folder,
    logfile: LOG,
    appendonly: 'yes',
    appendfsync: 'everysec',
    save: '',
  };
  return Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
}

/** Restarts the server whenever it ends: people who kill it to see what happens also want to see it come back. */
function revive(keeper: ChildProcess, start: () => ChildProcess): void {
  keeper.once('exit', () => setTimeout(() => revive(start(), start), REVIVED_AFTER).unref());
}

/** Waits until the server answers. Resolves to false if it ends instead. */
async function isUp(url: string, folder: string, keeper: ChildProcess): Promise<boolean> {
  for (const deadline = Date.now() + START_TIMEOUT; Date.now() < deadline; await sleep(PAUSE)) {
    if (await isServing(url, folder)) return true;
    if (keeper.exitCode !== null || keeper.signalCode !== null) return false;
  }
  return false;
}
