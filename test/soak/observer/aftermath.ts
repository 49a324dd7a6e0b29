import { until } from '../../support/until.js';
import type { SoakResult } from '../soak-result.js';
import type { SoakStage } from '../soak-stage.js';
import { collectDeadLetters } from './dead-letters.js';
import { findResidue } from './residue.js';

const FINISH_TIMEOUT = 60_000;
const DRAIN_TIMEOUT = 120_000;
const RECONNECT_TIMEOUT = 20_000;

/** Reports the progress of a run. */
export type Narrator = (text: string) => void;

/** The state once the faults are over, the producers have finished and the queues are drained. */
export interface Aftermath extends Pick<SoakResult, 'server' | 'drainedAfter' | 'connections' | 'residue'> {
  /** The numbers of the dead letters' messages. */
  readonly deadLetters: ReadonlySet<number>;
}

export async function awaitAftermath(stage: SoakStage, tell: Narrator): Promise<Aftermath> {
  const { fleet, observer, prefix, queues, servers, settings: soak } = stage;
  const from = stage.now();
  await fleet.stop('producer', FINISH_TIMEOUT);
  tell('Draining');
  const drained = until(async () => (await observer.underWay()) === 0, { within: DRAIN_TIMEOUT, every: 50 });
  const drainedAfter = await drained.then(() => stage.now() - from).catch(() => null);
  const connections = await connectionsAfterHealing(stage);
  const deadLetters = await collectDeadLetters({
    ...{ soak, prefix },
    connection: servers.connection,
    partitions: fleet.partitions,
  });
  await fleet.stop('worker', FINISH_TIMEOUT);
  const residue = await findResidue(servers.client, queues);
  const [info] = await servers.ask('INFO', 'server');
  const version = /redis_version:(\S+)/.exec(String(info))?.[1] ?? '(unknown version)';
  await observer.stop();
  return { server: `Redis ${version}, ${servers.durability}`, drainedAfter, connections, deadLetters, residue };
}

async function connectionsAfterHealing({ fleet, observer }: SoakStage): Promise<SoakResult['connections']> {
  const workers = fleet.berths.filter(({ role }) => role === 'worker').length;
  const most = workers * fleet.connectionsOfAWorker;
  const reached = until(async () => (await observer.connections()) <= most, { within: RECONNECT_TIMEOUT });
  await reached.catch(() => undefined);
  return { found: await observer.connections(), most };
}
