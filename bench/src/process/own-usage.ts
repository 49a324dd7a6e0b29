import type { OwnTasks, Usage } from './tasks.js';

/** Tells what this process has used. */
export const ownUsage: OwnTasks = {
  usage: () => Promise.resolve(readUsage()),
  usageAfterGc: () => {
    globalThis.gc!();
    return Promise.resolve(readUsage());
  },
};

function readUsage(): Usage {
  const { user, system } = process.cpuUsage();
  return { cpu: user + system, heap: process.memoryUsage().heapUsed };
}
