import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '../start-error.js';
import { ask, isServing } from './ask-redis.js';

/** Who uses a folder: a process of the shop and its Redis. */
export interface FolderOwner {
  readonly pid: number;
  readonly url: string;
}

/** How long another process may take to start its Redis. */
const STARTING = 2000;
/** How long a Redis may take to end after its process has ended. */
const ENDING = 5000;
const PAUSE = 50;

/**
 * Takes the lock's folder for this process alone: two servers would corrupt each other's files. When its owner ends, a lock
 * stays behind and no longer means anything.
 *
 * @throws StartError if another process uses the folder
 */
export async function lockFolder(lock: string, owner: FolderOwner): Promise<void> {
  for (const begun = Date.now(); !tryLock(lock, owner); await sleep(PAUSE)) {
    const other = readOwner(lock);
    if (!other) continue;
    const waited = Date.now() - begun;
    const isOtherRunning = other.pid !== process.pid && isRunning(other.pid);
    if (await isServing(other.url, dirname(lock))) {
      if (isOtherRunning) throw inUse(lock, other);
      if (waited > ENDING) await ask(other.url, (redis) => redis.shutdown()).catch(() => undefined);
    } else if (!isOtherRunning || waited > STARTING) {
      breakLock(lock);
    }
  }
}

function tryLock(lock: string, owner: FolderOwner): boolean {
  const draft = `${lock}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(owner));
  try {
    linkSync(draft, lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft);
  }
}

function breakLock(lock: string): void {
  const broken = `${lock}.broken.${process.pid}`;
  try {
    // Only one of several processes succeeds.
    renameSync(lock, broken);
    rmSync(broken);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function readOwner(lock: string): FolderOwner | null {
  try {
    return JSON.parse(readFileSync(lock, 'utf8')) as FolderOwner;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new StartError(`${lock} cannot be read. If no other process of the shop is running, delete it.`, {
      cause: error,
    });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function inUse(lock: string, { pid, url }: FolderOwner): StartError {
  return new StartError(
    `The data in ${dirname(lock)} is in use by process ${pid}. To run another process on the same Redis:\n` +
      `  REDIS_URL=${url} PORT=3001 npm start`,
  );
}
