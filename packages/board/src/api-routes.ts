import type { ConfigView } from './api.js';
import { Audit } from './audit.js';
import type { Call } from './call.js';
import { EventStreams } from './event-streams.js';
import type { Exchange } from './exchange.js';
import type { BoardInstance } from './instances.js';
import { Jobs } from './jobs.js';
import { MessageApi } from './message-api.js';
import { MessageViews } from './message-views.js';
import { openApi } from './openapi.js';
import type { BoardOptions } from './options.js';
import { getQueue, listQueues } from './queue-api.js';
import {
  cancelGroup,
  changeRepeat,
  getHistogram,
  getLimits,
  listErrors,
  listGroups,
  listRepeats,
  listWorkers,
  pauseOrResumeGroup,
  resetLimits,
  runRepeat,
  setGroupConcurrency,
  setLimits,
} from './queue-details.js';
import { RowEvents, watchQueues } from './row-events.js';
import type { Route } from './routes.js';

interface ApiParts {
  readonly options: BoardOptions;
  readonly instances: ReadonlyMap<string, BoardInstance>;
  /** The headers of every answer. */
  readonly headers: Readonly<Record<string, string>>;
  readonly config: (exchange: Exchange) => Promise<ConfigView>;
}

const INSTANCE = '/i/:instance';
const QUEUE = `${INSTANCE}/queues/:queue`;
const MESSAGE = `${QUEUE}/messages/:id`;
const JOB = `${INSTANCE}/jobs/:job`;

const REPEAT_ACTIONS = ['pause', 'resume', 'end'] as const;
const MESSAGE_ACTIONS = ['deliver', 'reschedule', 'change', 'cancel', 'abort', 'redrive', 'discard'] as const;

/** The HTTP API of a board. */
export class Api {
  readonly routes: readonly Route[];
  readonly #streams: EventStreams;
  readonly #jobs: Jobs;

  constructor({ options, instances, headers, config }: ApiParts) {
    const isRedacted = options.show !== undefined;
    const audit = new Audit(options);
    this.#streams = new EventStreams(headers);
    const jobs = new Jobs(audit, isRedacted);
    this.#jobs = jobs;
    const messages = new MessageApi(new MessageViews(options.show), audit, isRedacted);
    const events = new Map([...instances].map(([name, instance]) => [name, new RowEvents(instance)]));
    this.routes = [
      get('/openapi.json', () => openApi),
      get('/config', ({ exchange }) => config(exchange)),
      get(`${INSTANCE}/queues`, listQueues),
      { ...get(`${INSTANCE}/events`, watchQueues(this.#streams, events)), kind: 'events' },
      get(`${INSTANCE}/workers`, listWorkers),
      get(JOB, (call) => jobs.get(call)),
      { method: 'DELETE', path: JOB, kind: 'change', handle: (call) => jobs.stop(call) },
      get(QUEUE, getQueue),
      post(`${QUEUE}/pause`, pauseOrResume('pause', audit)),
      post(`${QUEUE}/resume`, pauseOrResume('resume', audit)),
      get(`${QUEUE}/limits`, getLimits),
      post(`${QUEUE}/limits`, setLimits(audit)),
      post(`${QUEUE}/limits/reset`, resetLimits(audit)),
      get(`${QUEUE}/histogram`, getHistogram),
      get(`${QUEUE}/errors`, listErrors),
      get(`${QUEUE}/groups`, listGroups),
      post(`${QUEUE}/groups/:group/cancel`, cancelGroup(audit)),
      post(`${QUEUE}/groups/:group/pause`, pauseOrResumeGroup('pause', audit)),
      post(`${QUEUE}/groups/:group/resume`, pauseOrResumeGroup('resume', audit)),
      post(`${QUEUE}/groups/:group/concurrency`, setGroupConcurrency(audit)),
      get(`${QUEUE}/repeats`, listRepeats),
      ...REPEAT_ACTIONS.map((action) => post(`${QUEUE}/repeats/:id/${action}`, changeRepeat(action, audit))),
      post(`${QUEUE}/repeats/:id/run`, runRepeat(audit)),
      { ...post(`${QUEUE}/jobs`, (call) => jobs.start(call)), status: 202 },
      get(`${QUEUE}/messages`, (call) => messages.list(call)),
      get(MESSAGE, (call) => messages.get(call)),
      get(`${QUEUE}/handled`, (call) => messages.listHandled(call)),
      get(`${QUEUE}/handled/:id`, (call) => messages.getHandled(call)),
      ...MESSAGE_ACTIONS.map((action) => post(`${MESSAGE}/${action}`, messages.act(action))),
    ];
  }

  /** Ends streams and jobs. */
  async close(): Promise<void> {
    this.#streams.close();
    await this.#jobs.close();
  }
}

function get(path: string, handle: Route['handle']): Route {
  return { method: 'GET', path, kind: 'read', handle };
}

function post(path: string, handle: Route['handle']): Route {
  return { method: 'POST', path, kind: 'change', handle };
}

function pauseOrResume(action: 'pause' | 'resume', audit: Audit): (call: Call) => Promise<object> {
  return async (call) => {
    await audit.one(call, { action }, async () => {
      await call.instance.producer[action](call.params.queue!);
      return 0;
    });
    return { ok: true };
  };
}
