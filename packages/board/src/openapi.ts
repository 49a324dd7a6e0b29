// The document at `api/openapi.json`. `test/board/board-api.programs.ts` compares real answers with it.

type Schema = Readonly<Record<string, unknown>>;

const text = { type: 'string' };
const time = { type: 'string', format: 'date-time' };
const count = { type: 'integer', minimum: 0 };
const number = { type: 'number' };
const permits = { type: 'integer', minimum: 1, maximum: 1_000_000 };
const flag = { type: 'boolean' };
const cursor = { type: ['string', 'null'], description: 'Pass this to get the next page; null on the last page.' };
const missing = { type: 'array', items: count, description: 'The partitions that did not answer.' };
const encrypted = { ...count, description: 'How many could not be searched for the text, because they are encrypted.' };
const due = { oneOf: [{ type: 'number', minimum: 0 }, time], description: 'A delay from now in ms, or a time.' };
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const list = (items: Schema) => ({ type: 'array', items });
const orNull = (schema: Schema) => ({ anyOf: [schema, { type: 'null' }] });
const texts = { type: 'object', additionalProperties: text };

/** An object of which all properties are required, except those whose names end with `?`. */
function object(properties: Readonly<Record<string, Schema>>): Schema {
  const names = Object.keys(properties);
  const required = names.filter((name) => !name.endsWith('?'));
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name.replace(/\?$/, ''), properties[name]])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

const state = { enum: ['delayed', 'ready', 'active', 'dead'] };
const counts = { delayed: count, ready: count, active: count, dead: count };
const lateness = object({ p50: number, p99: number });

const row = {
  name: text,
  ...counts,
  nextDue: orNull(time),
  overdueMs: number,
  paused: flag,
  'missing?': missing,
  workers: count,
  handledPerMinute: number,
  failedPerMinute: number,
  lateness: orNull(lateness),
  notes: list(ref('QueueNote')),
};

const message = {
  id: text,
  queue: text,
  state,
  type: text,
  headers: texts,
  'group?': text,
  dueAt: time,
  offeredAt: time,
  failedAttempts: count,
  'attempts?': count,
  'backoff?': ref('Backoff'),
  'expiresAt?': time,
  'repeat?': ref('Rule'),
  'leasedUntil?': time,
  'diedAt?': time,
  'error?': object({ name: text, message: text, 'stack?': text }),
};

const handled = {
  id: text,
  queue: text,
  type: text,
  'group?': text,
  'attempts?': count,
  'backoff?': ref('Backoff'),
  dueAt: time,
  offeredAt: time,
  handledAt: time,
  lateness: { ...number, description: 'From the due time to the start of the handler, ms.' },
  took: { ...number, description: 'From the start of the handler to its outcome, ms.' },
  attempt: count,
  worker: object({ id: text, host: text, pid: count }),
};

const action = { enum: ['count', 'cancel', 'reschedule', 'redrive', 'discard'] };

const limits = {
  'globalConcurrency?': { oneOf: [{ type: 'integer', minimum: 1, maximum: 10_000 }, { const: 'unlimited' }] },
  'rate?': { oneOf: [object({ max: count, per: number }), { const: 'unlimited' }] },
};

const schemas = {
  Error: object({ error: object({ code: text, message: text }) }),
  Config: object({
    instances: list(text),
    readOnly: flag,
    mayChange: flag,
    isGuarded: flag,
    version: text,
    redacted: flag,
  }),
  QueueNote: object({
    code: { enum: ['paused', 'partitions-missing', 'no-worker', 'growing', 'overdue', 'dead-letters'] },
    text,
  }),
  QueueRow: object(row),
  QueueList: object({ queues: list(ref('QueueRow')), cursor, now: time }),
  Queue: object({
    ...row,
    'types?': list(object({ type: text, counts: object(counts) })),
    layout: text,
    can: object({
      headers: flag,
      types: flag,
      expiry: flag,
      changes: flag,
      groups: flag,
      repeats: flag,
      history: flag,
    }),
    now: time,
  }),
  Limits: object({ limits: orNull(object({ ...limits, setBy: text, setAt: time })) }),
  LimitsToSet: object(limits),
  Histogram: object({
    from: time,
    to: time,
    counts: { ...list(count), description: 'A bucket includes its start and excludes its end.' },
    before: count,
    after: count,
    'missing?': missing,
    now: time,
    overdue: { ...count, description: 'Delayed messages whose due time has passed, and ready ones.' },
  }),
  Rule: object({
    'cron?': { ...text, description: 'Absent if the message repeats at an interval.' },
    'timeZone?': text,
    'every?': { ...count, description: 'The interval, ms.' },
    missed: { enum: ['once', 'skip', 'each'] },
    'catchUp?': { ...count, description: 'ms' },
    'startsAt?': time,
    'endsAt?': time,
    'limit?': count,
    'count?': { ...count, description: 'How many occurrences are over, if they are counted.' },
    'isPaused?': { const: true },
  }),
  Backoff: object({
    type: { enum: ['fixed', 'exponential'] },
    delay: number,
    'factor?': number,
    'maxDelay?': number,
    jitter: number,
  }),
  MessageRow: object({ ...message, preview: { type: 'string', maxLength: 200 } }),
  MessageList: object({
    messages: list(ref('MessageRow')),
    cursor,
    examined: count,
    'encrypted?': encrypted,
    'missing?': missing,
  }),
  Payload: {
    oneOf: [
      object({ kind: { const: 'json' }, value: {} }),
      object({ kind: { const: 'bytes' }, base64: text, size: count }),
      object({ kind: { const: 'encrypted' }, key: text, size: count }),
      object({ kind: { const: 'hidden' }, reason: text }),
    ],
  },
  Message: object({ ...message, payload: ref('Payload') }),
  HandledRow: object({ ...handled, 'preview?': { type: 'string', maxLength: 200 } }),
  HandledList: object({ messages: list(ref('HandledRow')), cursor, examined: count, 'missing?': missing }),
  Handled: object({ ...handled, 'payload?': ref('Payload'), 'headers?': texts }),
  Done: object({ ok: { const: true } }),
  Changed: object({ changed: { ...flag, description: 'False if the message had moved on.' } }),
  Count: object({ changed: count }),
  Reschedule: object({ due }),
  Change: object({ 'due?': due, 'payload?': {}, 'headers?': texts, 'type?': text }),
  Filter: object({
    state,
    'idPrefix?': text,
    'type?': text,
    'group?': text,
    'text?': text,
    'due?': object({ 'from?': time, 'to?': time }),
    'repeats?': flag,
    'error?': object({ name: text, 'frame?': text }),
  }),
  JobRequest: object({
    action,
    'filter?': ref('Filter'),
    'ids?': { ...list(text), minItems: 1, maxItems: 1000 },
    'due?': due,
  }),
  Report: object({
    matched: count,
    changed: count,
    movedOn: count,
    examined: count,
    isComplete: { ...flag, description: 'False: `matched` is the least number.' },
    'encrypted?': encrypted,
    'missing?': missing,
  }),
  Job: object({
    id: text,
    queue: text,
    action,
    state: { enum: ['running', 'done', 'stopped', 'failed'] },
    report: ref('Report'),
    'error?': text,
    startedAt: time,
    'endedAt?': time,
  }),
  JobAnswer: object({ job: ref('Job') }),
  ErrorList: object({
    errors: list(object({ name: text, frame: text, message: text, count, firstAt: time, lastAt: time, example: text })),
    examined: count,
    cursor,
    'missing?': missing,
  }),
  GroupList: object({
    groups: list(
      object({
        ...{ group: text, waiting: count, holders: list(text), holding: count, paused: flag },
        'concurrency?': {
          oneOf: [permits, { const: 'unlimited' }],
          description: "Absent: that of the queue's groups.",
        },
      }),
    ),
    total: count,
    isComplete: flag,
  }),
  GroupConcurrency: object({
    concurrency: {
      oneOf: [permits, { enum: ['unlimited', 'default'] }],
      description: "`default`: that of the queue's groups.",
    },
  }),
  RepeatList: object({
    repeats: list(object({ id: text, type: text, rule: ref('Rule'), dueAt: time, state, next: list(time) })),
    cursor,
    examined: count,
  }),
  Run: object({ id: orNull(text) }),
  WorkerList: object({
    workers: list(
      object({
        id: text,
        host: text,
        pid: count,
        version: text,
        startedAt: time,
        seenAt: time,
        queues: list(
          object({
            queue: text,
            slots: count,
            used: count,
            'longest?': object({ id: text, since: time, type: text }),
            handled: number,
            failed: number,
            'lateness?': lateness,
          }),
        ),
      }),
    ),
    cursor,
  }),
};

type Name = keyof typeof schemas;

const QUEUE = '/i/{instance}/queues/{queue}';
const JOB = '/i/{instance}/jobs/{job}';

const CHANGE_PARAMETERS = [
  { name: 'X-Delay-Queue-Board', in: 'header', required: true, schema: { const: '1' } },
  { name: 'Origin', in: 'header', required: true, description: 'The origin of the board itself.', schema: text },
];

const FAILURES = {
  '4XX': { description: 'Refused.', content: json('Error') },
  '5XX': {
    description: 'Redis is away (503), the application is shutting down (503), or a bug (500).',
    content: json('Error'),
  },
};

function json(name: Name): Schema {
  return { 'application/json': { schema: ref(name) } };
}

function parametersOf(path: string): Schema[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: text }));
}

function read(path: string, summary: string, answer: Name, query: readonly string[] = []): Record<string, Schema> {
  const parameters = [...parametersOf(path), ...query.map((name) => ({ name, in: 'query', schema: text }))];
  const responses = { 200: { description: 'OK', content: json(answer) }, ...FAILURES };
  return { [path]: { get: { summary, parameters, responses } } };
}

function events(path: string, summary: string, query: readonly string[] = []): Record<string, Schema> {
  const parameters = [
    ...parametersOf(path),
    ...query.map((name) => ({ name, in: 'query', required: true, schema: text })),
  ];
  const responses = { 200: { description: 'Server-sent events', content: { 'text/event-stream': {} } }, ...FAILURES };
  return { [path]: { get: { summary, parameters, responses } } };
}

interface Write {
  readonly answer: Name;
  readonly body?: Name;
  readonly status?: number;
}

function write(path: string, summary: string, { answer, body, status = 200 }: Write): Record<string, Schema> {
  const parameters = [...parametersOf(path), ...CHANGE_PARAMETERS];
  const requestBody = body && { requestBody: { required: true, content: json(body) } };
  const responses = { [status]: { description: 'OK', content: json(answer) }, ...FAILURES };
  return { [path]: { post: { summary, parameters, ...requestBody, responses } } };
}

/** Merges the operations of one path. */
function both(one: Record<string, Schema>, other: Record<string, Schema>): Record<string, Schema> {
  return Object.fromEntries(Object.entries(one).map(([path, schema]) => [path, { ...schema, ...other[path] }]));
}

const stop = {
  summary: 'Stops a job, and waits until it has ended.',
  parameters: [...parametersOf(JOB), ...CHANGE_PARAMETERS],
  responses: { 200: { description: 'OK', content: json('JobAnswer') }, ...FAILURES },
};

const FILTER = ['state', 'idPrefix', 'type', 'group', 'text', 'dueFrom', 'dueTo', 'repeats', 'errorName', 'errorFrame'];

/** The description of the API. */
export const openApi = {
  openapi: '3.1.0',
  info: {
    title: 'The board of nestjs-delay-queue',
    version: '1',
    description:
      'Times are ISO 8601, durations milliseconds. The instance without a name is `-`. Events end after a minute; clients connect again.',
  },
  paths: {
    ...read('/config', 'Says what the board shows, and what its caller may do.', 'Config'),
    ...read('/i/{instance}/queues', 'Lists queues by name.', 'QueueList', ['cursor', 'limit', 'prefix']),
    ...events(
      '/i/{instance}/events',
      'Sends the rows of queues that change: `rows` with a list of QueueRow, `away` and `back` when Redis is away and back.',
      ['queues'],
    ),
    ...read('/i/{instance}/workers', 'Lists the processes that are alive.', 'WorkerList', ['cursor', 'limit']),
    ...read(QUEUE, 'Shows a queue; with `types=1`, walks through it to count the messages of each type.', 'Queue', [
      'types',
    ]),
    ...write(`${QUEUE}/pause`, 'Pauses a queue.', { answer: 'Done' }),
    ...write(`${QUEUE}/resume`, 'Resumes a queue.', { answer: 'Done' }),
    ...both(
      read(`${QUEUE}/limits`, 'Shows the limits that were set for a queue while it runs.', 'Limits'),
      write(`${QUEUE}/limits`, 'Sets limits for all processes, instead of those in their options.', {
        answer: 'Limits',
        body: 'LimitsToSet',
      }),
    ),
    ...write(`${QUEUE}/limits/reset`, 'Removes the limits that were set.', { answer: 'Limits' }),
    ...read(`${QUEUE}/histogram`, 'Counts delayed messages by due time.', 'Histogram', ['from', 'to', 'buckets']),
    ...read(
      `${QUEUE}/messages`,
      'Searches messages of one state. A page may be empty and have a cursor.',
      'MessageList',
      [...FILTER, 'cursor', 'limit'],
    ),
    ...read(`${QUEUE}/messages/{id}`, 'Shows a message.', 'Message'),
    ...read(`${QUEUE}/handled`, 'Lists the handled messages that the queue remembers, newest first.', 'HandledList', [
      'cursor',
      'limit',
    ]),
    ...read(`${QUEUE}/handled/{id}`, 'Shows a handled message that the queue remembers.', 'Handled'),
    ...write(`${QUEUE}/messages/{id}/deliver`, 'Makes a delayed message due now.', { answer: 'Changed' }),
    ...write(`${QUEUE}/messages/{id}/reschedule`, 'Moves a delayed message.', {
      answer: 'Changed',
      body: 'Reschedule',
    }),
    ...write(`${QUEUE}/messages/{id}/change`, 'Changes a delayed message.', { answer: 'Changed', body: 'Change' }),
    ...write(`${QUEUE}/messages/{id}/cancel`, 'Removes a delayed message, or ends a repetition.', {
      answer: 'Changed',
    }),
    ...write(`${QUEUE}/messages/{id}/abort`, 'Stops an active message and removes it.', { answer: 'Changed' }),
    ...write(`${QUEUE}/messages/{id}/redrive`, 'Makes a dead letter due now.', { answer: 'Changed' }),
    ...write(`${QUEUE}/messages/{id}/discard`, 'Removes a dead letter.', { answer: 'Changed' }),
    ...write(`${QUEUE}/jobs`, 'Starts a change of many messages, by a filter or by ids.', {
      answer: 'JobAnswer',
      body: 'JobRequest',
      status: 202,
    }),
    [JOB]: { ...read(JOB, 'Shows a job of this process.', 'JobAnswer')[JOB], delete: stop },
    ...read(`${QUEUE}/errors`, 'Groups dead letters by error.', 'ErrorList', ['cursor']),
    ...read(
      `${QUEUE}/groups`,
      'Lists the groups with the longest backlogs, and those that are paused or have a concurrency of their own.',
      'GroupList',
      ['limit'],
    ),
    ...write(`${QUEUE}/groups/{group}/cancel`, 'Cancels the delayed messages of a group.', { answer: 'Count' }),
    ...write(`${QUEUE}/groups/{group}/pause`, 'Pauses a group.', { answer: 'Done' }),
    ...write(`${QUEUE}/groups/{group}/resume`, 'Resumes a group.', { answer: 'Done' }),
    ...write(`${QUEUE}/groups/{group}/concurrency`, 'Sets how many messages of a group are handled at once.', {
      answer: 'Done',
      body: 'GroupConcurrency',
    }),
    ...read(`${QUEUE}/repeats`, 'Lists repeating messages and their next times.', 'RepeatList', ['cursor']),
    ...write(`${QUEUE}/repeats/{id}/pause`, 'Pauses a repetition.', { answer: 'Changed' }),
    ...write(`${QUEUE}/repeats/{id}/resume`, 'Resumes a repetition.', { answer: 'Changed' }),
    ...write(`${QUEUE}/repeats/{id}/run`, 'Offers an extra occurrence that is due now.', { answer: 'Run' }),
    ...write(`${QUEUE}/repeats/{id}/end`, 'Ends a repetition.', { answer: 'Changed' }),
  },
  components: { schemas },
};
