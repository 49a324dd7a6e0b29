import { z } from 'zod/mini';
import { QUEUE_FAMILY, QUEUE_NAME, QUEUE_OR_FAMILY_RULE } from '../message/queue-name.js';
import type { Calendar } from '../message/repeat-rule.js';
import { type DelayQueueObserver, isObserver, OBSERVER_METHODS } from '../message/delay-queue-observer.js';
import { examineConnection } from '../redis/connection/redis-client.js';
import { type ConnectionOptions, problemsOfShape } from '../redis/options/connection-options.js';
import type { DelayQueueModuleOptions } from './module-options.js';
import { queueLayerSchema } from './queue-options-schema.js';
import { duration, HOUR, mustBe, oneOf, trueOrFalse, wholeNumber } from './check.js';

/** The module options with all defaults filled in. Durations are milliseconds; the queue options are as given. */
export type ResolvedModuleOptions = Readonly<Omit<z.output<typeof moduleSchema>, AsGiven>> &
  Readonly<{ [Name in AsGiven]-?: NonNullable<DelayQueueModuleOptions[Name]> }> & {
    /** True if no connection was given, or one that names no server, as when environment variables are not set. */
    readonly hasDefaultConnection: boolean;
  };

type AsGiven = 'connection' | 'defaults' | 'queues' | 'observers';

const connectionSchema = z.custom<ConnectionOptions>().check(
  z.superRefine((connection, context) => {
    const problems = problemsOfShape(connection);
    for (const { path, message } of problems.length > 0 ? problems : examineConnection(connection).problems) {
      context.addIssue({ code: 'custom', path: [...path], message });
    }
  }),
);

const queueOrFamilySchema = z
  .string()
  .check(z.refine((name) => QUEUE_NAME.test(name) || QUEUE_FAMILY.test(name), { error: QUEUE_OR_FAMILY_RULE }));

/** Accepts any object, such as an instance of a class. */
const observerSchema = z.custom<DelayQueueObserver>(
  isObserver,
  mustBe(`an object with some of the methods ${OBSERVER_METHODS.join(', ')}, and no generators (*) among them`),
);

const calendarSchema = z.custom<Calendar>(
  (value) => typeof (value as Partial<Calendar> | null)?.next === 'function',
  mustBe("an object with the method next(), such as the calendar of 'nestjs-delay-queue/calendar'"),
);

const acknowledgeSchema = z
  .strictObject(
    {
      replicas: z.prefault(wholeNumber(0, 100), 1),
      within: z.prefault(duration(1, HOUR / 6), '200ms'),
      fsync: z.prefault(trueOrFalse(), false),
    },
    mustBe('{ replicas?, within?, fsync? }, such as { replicas: 1 }'),
  )
  .check(
    z.refine(({ replicas, fsync }) => replicas > 0 || fsync, {
      path: ['replicas'],
      error: 'must be at least 1, or fsync true: otherwise there is nothing to wait for',
    }),
  );

const QUEUES_RULE = mustBe('an object with options by queue name, such as { orders: { concurrency: 8 } }');

/** The schema of `queues`. */
export const queuesSchema = z.record(queueOrFamilySchema, queueLayerSchema, QUEUES_RULE);

const PREFIX_RULE = '1–64 of the characters A–Z a–z 0–9 _ . : -';

/** All options of the module, with their defaults as a user would write them. */
const moduleFields = {
  connection: z.prefault(connectionSchema, 'redis://127.0.0.1:6379'),
  store: z.prefault(oneOf('redis', 'memory'), 'redis'),
  prefix: z.prefault(
    z
      .string(mustBe(`text of ${PREFIX_RULE}`))
      .check(z.regex(/^[A-Za-z0-9_.:-]{1,64}$/, { error: `must be ${PREFIX_RULE}` })),
    'delay-queue',
  ),
  allowEviction: z.prefault(trueOrFalse(), false),
  consume: z.prefault(trueOrFalse(), true),
  inheritAppConfig: z.prefault(trueOrFalse(), false),
  observers: z.optional(z.readonly(z.array(observerSchema, mustBe('an array of observers')))),
  defaults: z.optional(
    queueLayerSchema.check(
      z.refine(({ layout }) => layout.can.severalQueues, {
        path: ['layout'],
        error: 'cannot be shared by all queues, because it names one: set it in `queues`',
      }),
    ),
  ),
  queues: z.optional(queuesSchema),
  shutdownTimeout: z.prefault(duration(0, HOUR), '10s'),
  offerTimeout: z.prefault(duration(10, HOUR / 6), '5s'),
  acknowledge: z.optional(acknowledgeSchema),
  scripting: z.optional(oneOf('functions', 'scripts')),
  heartbeat: z.prefault(trueOrFalse(), true),
  calendar: z.optional(calendarSchema),
} satisfies {
  readonly [Name in keyof Required<DelayQueueModuleOptions>]: z.ZodMiniType<unknown, DelayQueueModuleOptions[Name]>;
};

const acknowledgedInTime = z.refine<
  Pick<z.output<z.ZodMiniObject<typeof moduleFields>>, 'acknowledge' | 'offerTimeout'>
>(({ acknowledge, offerTimeout }) => acknowledge === undefined || acknowledge.within <= offerTimeout, {
  path: ['acknowledge', 'within'],
  error: 'must not be longer than offerTimeout',
});

const fieldsSchema = z.strictObject(
  moduleFields,
  mustBe("an object with options, such as { connection: 'redis://127.0.0.1:6379' }"),
);

export const moduleSchema = fieldsSchema.check(acknowledgedInTime);

/** Checks all module options except the entries of `queues`. */
export const moduleFrameSchema = z
  .extend(fieldsSchema, { queues: z.optional(z.custom<object>(z.core.util.isPlainObject, QUEUES_RULE)) })
  .check(acknowledgedInTime);
