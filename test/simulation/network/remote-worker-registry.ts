import type { WorkerRegistry } from '../../../lib/store/worker-registry.js';
import type { Link } from './link.js';

/** The processes that handle queues, as known at the other end of the network. */
export function remoteWorkerRegistry({ registry, link }: { registry: WorkerRegistry; link: Link }): WorkerRegistry {
  return {
    report: (id, report) => link.call('reportWorker', () => registry.report(id, report)),
    remove: (id) => link.call('removeWorker', () => registry.remove(id)),
    list: (page) => link.call('listWorkers', () => registry.list(page)),
  };
}
