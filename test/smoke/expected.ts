/** The output of `consumer.ts` when its message was handled. */
export const HANDLED = { same: true, payload: { orderId: 7 }, onTime: true };

/** The output of `both-formats` when import and require load the same package, so that each knows the other's errors. */
export const ONE_COPY = { module: true, tester: true, producer: true, error: true, failedAttempts: [1] };

/** The output of `loaded`: no module of Redisson or its codecs. */
export const LOADED = {
  own: ['core.js', 'index.js', 'index.load.js', 'lua.js', 'peers.js', 'zod.js'],
  packages: [],
  used: [
    '-redisson index.js',
    '-redisson index.load.js',
    '-redisson peers.js',
    'layouts/index.js',
    'layouts/index.load.js',
  ],
};

/** The spans of `traces.ts`. */
export const TRACED = {
  'POST /orders': { parent: null, links: [] },
  'offer orders': { parent: 'POST /orders', links: [] },
  'process orders': { parent: null, links: ['offer orders'] },
  'GET /payments': { parent: 'process orders', links: [] },
};

const OF_ALL = 'guard of all: delay-queue';

/** The output of the command line for a queue that nobody uses. */
export const NO_MESSAGES = { queue: 'orders', delayed: 0, ready: 0, active: 0, dead: 0 };

/** The output of `enhancers.ts`. */
export const ENHANCED = {
  states: {
    enhanced: 'gone',
    forgiven: 'gone',
    failed: 'dead',
    again: 'delayed',
    empty: 'gone',
    plain: 'gone',
    denied: 'gone',
    scoped: 'gone',
    transient: 'gone',
    durable: 'gone',
  },
  said: [
    ...[
      '--- enhanced',
      OF_ALL,
      'guard: shop true handle',
      'guard of its own: shop',
      'before: 1',
      'pipe: body',
      'pipe: custom',
    ],
    ...['handler: 2 enhanced tt entered', 'after: done'],
    ...['--- forgiven', OF_ALL, 'guard: shop true fail', 'filter: RangeError'],
    ...['--- failed', OF_ALL, 'guard: shop true failOtherwise'],
    ...['--- again', OF_ALL, 'guard: shop true comeAgain', 'again: t'],
    ...['--- empty', OF_ALL, 'guard: shop true empty'],
    ...['--- plain', OF_ALL, 'plain: undefined'],
    ...['--- denied', OF_ALL, 'filter: ForbiddenException'],
    ...['--- scoped', OF_ALL, 'scoped: guard true true'],
    ...['--- transient', OF_ALL, 'transient: 1', '--- transient', OF_ALL, 'transient: 1'],
    ...['--- durable', OF_ALL, 'durable: t 1', '--- durable', OF_ALL, 'durable: t 2'],
  ],
  /** The logger of the error: only the library, once. */
  errors: ['DelayQueue'],
};

/** The output of `enhancer-packages.ts`. */
export const WITH_PACKAGES = {
  isDto: true,
  invalid: ['BadRequestException'],
  guard: 'guard',
  interceptor: 'interceptor',
  leaked: false,
};
