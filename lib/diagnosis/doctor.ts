import { randomBytes } from 'node:crypto';
import { Events } from '../events/events.js';
import { hasCode } from '../message/failure.js';
import type { ResolvedModuleOptions } from '../options/module-options-schema.js';
import { isCluster } from '../redis/options/connection-options.js';
import type { RedisConnections } from '../redis/redis-connections.js';
import { isVerdict } from '../redis/check/redis-check.js';
import { lacksPermission } from '../redis/redis-errors.js';
import { verdictOn } from '../redis/check/server-info.js';
import type { LoadedLibrary } from '../redis/script/redis-library.js';
import { checkClock, readClock } from './clock-check.js';
import { type Finding, fail, ok, warn } from './finding.js';
import { checkLibraries, checkScripting } from './function-check.js';
import { checkPermissions, checkSharing, type ExaminedQueue, mayHandle } from './permission-check.js';
import { openConnections } from './open-connections.js';
import { sendProbe } from './probe.js';
import { checkDatabases, checkInfo } from './server-checks.js';

/** How late the probe may be without a warning, ms. */
const LATE = 100;

export interface DoctorSettings {
  readonly options: Pick<ResolvedModuleOptions, 'connection' | 'prefix' | 'offerTimeout' | 'scripting'>;
  /** The server's name in findings. */
  readonly server: string;
  /** The queue whose permissions are checked; undefined: the probe's queue. */
  readonly examined: Omit<ExaminedQueue, 'prefix'> | undefined;
  /** The libraries of this version. */
  readonly libraries: readonly LoadedLibrary[];
}

/** Examines a server, one check after another. Stops after a check that makes the rest pointless. */
export class Doctor {
  readonly #settings: DoctorSettings;
  readonly #events = new Events();
  readonly #connections: RedisConnections;
  readonly #probeQueue = `doctor:${randomBytes(6).toString('hex')}`;
  /** Why there is no connection. */
  #outage = '';
  /** Why the probe's worker makes no progress, or only part of it works. */
  #failure = '';

  constructor(settings: DoctorSettings) {
    this.#settings = settings;
    this.#connections = openConnections(settings.options, this.#events);
    this.#events.on('connection-lost', ({ reason }) => (this.#outage = reason));
    this.#events.on('work-failing', ({ reason }) => (this.#failure = reason));
  }

  async *examine(): AsyncGenerator<Finding> {
    const { commands } = this.#connections;
    try {
      commands.servers.connect();
      await commands.send('TIME');
    } catch (error) {
      yield this.#unreachable(error);
      return;
    }
    const clock = await readClock(commands);
    yield ok('connection', `${this.#settings.server} answers in ${clock.roundTrip.toFixed(1)} ms`);
    const ofServer = await this.#ofServer();
    yield* ofServer;
    if (ofServer.some(({ check, verdict }) => check === 'version' && verdict === 'fail')) return;
    const ofPermissions = await this.#ofPermissions();
    yield ofPermissions;
    if (ofPermissions.check === 'scripts') return;
    if (ofPermissions.verdict === 'ok') yield* await this.#ofSharing();
    yield* await this.#ofFunctions();
    yield checkClock(clock);
    yield await this.#ofProbe();
  }

  close(): Promise<void> {
    return this.#connections.close();
  }

  #unreachable(error: unknown): Finding {
    if (!hasCode(error, 'NOT_CONNECTED')) return fail('connection', (verdictOn(error) as Error).message);
    const reason = this.#outage && ` (${this.#outage.replace(/^Error: /, '')})`;
    const advice = 'Check the URL, and that Redis is up.';
    return fail('connection', `${this.#settings.server} cannot be reached${reason}`, advice);
  }

  async #ofServer(): Promise<Finding[]> {
    try {
      const infos = await this.#connections.commands.info();
      const [first, ...others] = infos.map(checkInfo);
      const ofDatabases = checkDatabases(infos[0]!, this.#connections.announcements.database);
      // For a cluster's other servers, only problems are reported.
      return [...first!, ofDatabases ?? [], others.flat().filter(({ verdict }) => verdict !== 'ok')].flat();
    } catch (error) {
      if (!(hasCode(error, 'STORE_REFUSED') && lacksPermission(error.cause))) return [unsupported('version', error)];
      return [
        warn('server', 'the Redis user may not run INFO', 'Add +info to its ACL, so that the server can be checked.'),
      ];
    }
  }

  async #ofPermissions(): Promise<Finding> {
    const { options, examined = { queue: this.#probeQueue } } = this.#settings;
    try {
      return await checkPermissions(this.#connections.commands, {
        ...{ prefix: options.prefix, scripting: options.scripting },
        ...examined,
      });
    } catch (error) {
      return unsupported('scripts', error);
    }
  }

  /** Checks that the user has the permissions with which queues share a connection. In a cluster, they never do, so nothing is checked. */
  async #ofSharing(): Promise<Finding[]> {
    if (isCluster(this.#settings.options.connection)) return [];
    const finding = await checkSharing(this.#connections.commands);
    return finding ? [finding] : [];
  }

  async #ofFunctions(): Promise<Finding[]> {
    const { options, libraries } = this.#settings;
    const { commands } = this.#connections;
    const ofLibraries = await checkLibraries(commands, libraries);
    return [...(await checkScripting(commands, options.scripting)), ...(ofLibraries ? [ofLibraries] : [])];
  }

  async #ofProbe(): Promise<Finding> {
    const { prefix, scripting, offerTimeout: patience } = this.#settings.options;
    const [connections, queue] = [this.#connections, this.#probeQueue];
    if (!(await mayHandle(connections.commands, { prefix, queue, scripting }))) {
      const advice = 'To send one, give the user the permissions of a worker, also on the queues doctor:*.';
      return warn('probe', `not sent: the Redis user may not handle queue '${queue}'`, advice);
    }
    const lateness = await sendProbe({ connections, events: this.#events, prefix, queue, patience });
    const failure = this.#failure.replace(/^DelayQueueError: /, '');
    if (lateness === undefined)
      return fail('probe', `not handled within ${patience} ms after it was due`, failure || this.#outage);
    const found = `a message was handled ${lateness.toFixed(1)} ms after it was due`;
    // A slow network is reported by the lateness.
    if (failure.startsWith('Redis refused')) return fail('probe', found, failure);
    if (lateness < LATE) return ok('probe', found);
    return warn('probe', found, 'Redis, the network or this machine is busy or far away: see SLOWLOG and the CPU.');
  }
}

/** @throws the error itself if it says nothing about the server's fitness */
function unsupported(check: string, error: unknown): Finding {
  const verdict = verdictOn(error);
  if (!isVerdict(verdict)) throw error;
  return fail(check, (verdict as Error).message);
}
