import { until } from '../../support/until.js';
import type { SoakResult } from '../soak-result.js';
import type { SoakStage } from '../soak-stage.js';
import { collectDeadLetters } from './dead-letters.js';
import { findResidue } from './residue.js';

const FINISH_TIMEOUT = 60_000;
const DRAIN_TIMEOUT = 120_000;
const RECONNECT_TIMEOUT = 20_000;

/** The connections of the observer. */
export const OWN_CONNECTIONS = 1;

/** Reports the progress of a run. */
export type Narrator = (text: string) => void;

/** What is found once the faults are over, the producers have finished and the queues are drained. */
export interface Aftermath extends Pick<SoakResult, 'server' | 'drainedAfter' | 'connections' | 'residue'> {
  /** The numbers of the dead letters' messages. */
  readonly deadLetters: ReadonlySet<number>;
}

export async function awaitAftermath(stage: SoakStage, tell: Narrator): Promise<Aftermath> {
  const { fleet, observer, admin, prefix, queues, redis, settings: soak } = stage;
  const from = stage.now();
  await fleet.stop('producer', FINISH_TIMEOUT);
  tell('Draining');
  const drained = until(async () => (await observer.underWay()) === 0, { within: DRAIN_TIMEOUT, every: 50 });
  const drainedAfter = await drained.then(() => stage.now() - from).catch(() => null);
  const connections = await connectionsAfterHealing(stage);
  const deadLetters = await collectDeadLetters({ soak, redisUrl: redis.url, prefix });
  await fleet.stop('worker', FINISH_TIMEOUT);
  const residue = await findResidue(admin, queues);
  const version = /redis_version:(\S+)/.exec(await admin.info('server'))?.[1] ?? '(unknown version)';
  await observer.stop();
  return { server: `Redis ${version}`, drainedAfter, connections, deadLetters, residue };
}

async function connectionsAfterHealing({ fleet, observer }: SoakStage): Promise<SoakResult['connections']> {
  const workers = fleet.berths.filter(({ role }) => role === 'worker').length;
  const expected = workers * fleet.connectionsOfAWorker + OWN_CONNECTIONS;
  const reached = until(async () => (await observer.connectedClients()) === expected, { within: RECONNECT_TIMEOUT });
  await reached.catch(() => undefined);
  return { found: await observer.connectedClients(), expected };
}
