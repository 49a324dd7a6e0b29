import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/**
 * Runs work while each of these processes is kept on a core of its own, as far as there are enough. The kernel moves two processes that
 * wait for each other between cores, which changes how fast they are more than what they do. Changes nothing where `taskset` is missing.
 */
export async function pinned<Result>(pids: readonly number[], run: () => Promise<Result>): Promise<Result> {
  const cores = availableParallelism();
  for (const [i, pid] of pids.entries()) keepOn(String(i % cores), pid);
  try {
    return await run();
  } finally {
    for (const pid of pids) keepOn(`0-${cores - 1}`, pid);
  }
}

/** All threads of a process. */
function keepOn(cores: string, pid: number): void {
  spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', cores, String(pid)], { stdio: 'ignore' });
}
