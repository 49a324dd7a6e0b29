import { isDeepStrictEqual } from 'node:util';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { isMessageType, MESSAGE_TYPE_RULE, NO_TYPE } from '../message/message-id.js';
import type { Retries } from '../message/retries.js';
import type { DelayedMessage } from '../message/message.js';
import { QUEUE_NAME, QUEUE_NAME_RULE } from '../message/queue-name.js';
import { isLiteral } from '../message/read-fields.js';
import { showGiven } from '../message/show-given.js';
import type { QueueOptions, TypedQueueOptions } from './queue-options.js';
import { spelling } from './check.js';
import { readTypedQueueOptions } from './resolve-options.js';
import type { PayloadCheck } from '../message/payload-check.js';
import { checkOf, isSchema } from '../schemas/schema-check.js';

type PayloadSpecs = Readonly<Record<string, PayloadSpec>>;

/**
 * The definition held by a queue's class.
 * @typeParam Payloads - one {@link PayloadSpec}, or one for each type
 */
export interface QueueDefinition<Payloads = unknown> {
  /** The queue's name. */
  readonly queue: string;
  /** The payloads given to `DelayQueue()`. */
  readonly payloads: Payloads;
  /** The options given to `DelayQueue()`. */
  readonly options: QueueOptions;
  /** The attempts and backoff that offers give to their messages, by type. */
  readonly retries: ReadonlyMap<string, Pick<QueueOptions, 'attempts' | 'backoff'>>;
  /** The name of the queue's instance; undefined if the instance has no name. */
  readonly instance?: string | undefined;
}

/** A class with a definition: made by `DelayQueue()`, or a subclass of such a class. */
export interface DefinedBy<Payloads> {
  /** The definition of the queue. */
  readonly definition: QueueDefinition<Payloads>;
}

/** The types of a queue; `''` if its messages have no type. */
export type TypesOf<Payloads> = Payloads extends PayloadSpec ? '' : keyof Payloads & string;

/** The payload spec of a type. */
export type SpecOf<Payloads, Type extends string> = Payloads extends PayloadSpec
  ? Payloads
  : Type extends keyof Payloads
    ? Payloads[Type]
    : never;

/**
 * The message that a handler of a typed queue gets.
 * @typeParam Queue - `typeof` the queue's class
 * @typeParam Type - the type, if the queue has several
 * @example
 * ```ts
 * class Emails extends DelayQueue('emails', payload<{ to: string }>()) {}
 * const log = (message: MessageOf<typeof Emails>) => console.log(message.payload.to);
 * ```
 */
export type MessageOf<Queue, Type extends string = ''> =
  Queue extends DefinedBy<infer Payloads>
    ? Type extends TypesOf<Payloads>
      ? DelayedMessage<PayloadOutput<SpecOf<Payloads, Type>>, Type>
      : never
    : never;

/** The payload that a handler of a typed queue gets. Takes the same parameters as {@link MessageOf}. */
export type PayloadOf<Queue, Type extends string = ''> = MessageOf<Queue, Type>['payload'];

/** Marks a definition as checked. All copies of the package share this key. */
const CHECKED = Symbol.for('nestjs-delay-queue:definition');

export function defineQueue<Payloads>(
  queue: string,
  payloads: Payloads,
  given: TypedQueueOptions,
): QueueDefinition<Payloads> {
  const place = `DelayQueue(${showGiven(queue)})`;
  const refuse = (problem: string) => new DelayQueueError('INVALID_OPTION', `${place}: ${problem}`);
  if (typeof queue !== 'string' || !QUEUE_NAME.test(queue)) throw refuse(QUEUE_NAME_RULE);
  const { queueOptions: options, retries, instance } = readTypedQueueOptions(given, place);
  checkPayloads(payloads, refuse);
  checkTypes(payloads, [...retries.keys()], refuse);
  return Object.freeze({ queue, payloads, options, retries, instance, [CHECKED]: true });
}

function checkPayloads(payloads: unknown, refuse: (problem: string) => DelayQueueError): void {
  if (isPayloadSpec(payloads)) return;
  const kinds = 'a Standard Schema, a class or payload<T>()';
  if (typeof payloads !== 'object' || payloads === null || !isLiteral(payloads)) {
    throw refuse(`the payload must be ${kinds}, or an object with one for each type, not ${showGiven(payloads)}`);
  }
  const types = Object.entries(payloads);
  if (types.length === 0) throw refuse(`the object has no types: give it ${kinds} for each`);
  for (const [type, spec] of types) {
    if (!isMessageType(type)) throw refuse(`${MESSAGE_TYPE_RULE}, not ${showGiven(type)}`);
    if (!isPayloadSpec(spec)) throw refuse(`the payload of '${type}' must be ${kinds}, not ${showGiven(spec)}`);
  }
}

function checkTypes(payloads: unknown, given: readonly string[], refuse: (problem: string) => DelayQueueError): void {
  if (given.length === 0) return;
  if (isPayloadSpec(payloads)) throw refuse('types: its messages have no type: set attempts and backoff beside it');
  const types = Object.keys(payloads as PayloadSpecs);
  const unknown = given.find((type) => !types.includes(type));
  if (unknown === undefined) return;
  throw refuse(`types.${unknown} is not a type of this queue; ${spelling(unknown, types, 'types')}`);
}

/** Returns the definition of a class, if {@link defineQueue} has checked it. */
export function definitionOf(value: unknown): QueueDefinition | undefined {
  if (typeof value !== 'function') return undefined;
  const { definition } = value as Partial<DefinedBy<unknown>>;
  return typeof definition === 'object' && CHECKED in definition ? definition : undefined;
}

/**
 * Returns the name of a typed queue's instance. Only the queue's class may name it.
 * @param given - the instance that was given along with the class
 * @throws DelayQueueError `INVALID_OPTION` if one was given
 */
export function instanceOfQueue(
  { queue, instance }: QueueDefinition,
  given: string | undefined,
  place: string,
): string | undefined {
  if (given === undefined) return instance;
  const problem = `instance: queue '${queue}' is a class: set it in the options of DelayQueue()`;
  throw new DelayQueueError('INVALID_OPTION', `${place}: ${problem}`);
}

/** True if two definitions have equal options and, for each type, the identical spec object. */
export function isSameDefinition(one: QueueDefinition, other: QueueDefinition): boolean {
  const [specs, others] = [specsOf(one), specsOf(other)];
  return (
    isDeepStrictEqual(one.options, other.options) &&
    isDeepStrictEqual(one.retries, other.retries) &&
    specs.size === others.size &&
    [...specs].every(([type, spec]) => others.get(type) === spec)
  );
}

function specsOf({ payloads }: QueueDefinition): ReadonlyMap<string, PayloadSpec> {
  return new Map(isPayloadSpec(payloads) ? [[NO_TYPE, payloads]] : Object.entries(payloads as PayloadSpecs));
}

/** Returns the attempts and backoff of messages, by type. */
export function retriesOf({ retries }: QueueDefinition): ReadonlyMap<string, Retries> {
  // What `defineQueue` has checked has no function.
  return retries as ReadonlyMap<string, Retries>;
}

/** Returns the types of a definition, in its order; undefined if messages have none. */
export function typesOf({ payloads }: QueueDefinition): readonly string[] | undefined {
  return isPayloadSpec(payloads) ? undefined : Object.keys(payloads as PayloadSpecs);
}

/** Returns a type's payload check; undefined if nothing is checked at run time. Throws `INVALID_ARGUMENT` if the queue lacks the type. */
export type CheckOfType = (type: string) => PayloadCheck | undefined;

export function checksOf(definition: QueueDefinition): CheckOfType {
  const checks = new Map([...specsOf(definition)].map(([type, spec]) => [type, checkOf(spec)]));
  return (type) => {
    if (!checks.has(type)) throw unknownType(definition, type);
    return checks.get(type);
  };
}

function unknownType(definition: QueueDefinition, type: string): DelayQueueError {
  const types = typesOf(definition);
  const rule = types ? `has the types ${types.join(', ')}` : 'has messages without a type: leave it out';
  const given = type === NO_TYPE ? 'none' : showGiven(type);
  return new DelayQueueError('INVALID_ARGUMENT', `type: queue '${definition.queue}' ${rule}; given: ${given}`);
}

/**
 * The declaration of a payload: a Standard Schema (zod, valibot, arktype…), a DTO class, or a bare type made with {@link payload}.
 *
 * This type does not use the standard's interface, because TypeScript would then compare whole schema types, and it gives up on ArkType's
 * (TS2589).
 * @see https://standardschema.dev
 */
export type PayloadSpec =
  | {
      /** The property that every Standard Schema has. */
      readonly '~standard': object;
    }
  | BarePayload<unknown>
  | PayloadClass;

/**
 * A DTO class, which gives the payload a type for the compiler. Nothing checks the payload at run time; the handler gets a plain object.
 *
 * A `ValidationPipe` bound to the handler checks the payload, and with `transform` makes an instance of the class. The pipe reads the type
 * of the method's parameter, which must name the class itself: `PayloadOf` or an `import type` leaves nothing at run time. If the pipe
 * refuses a payload, the attempt fails and is retried, unless the pipe's `exceptionFactory` makes a `RejectMessage`.
 */
export type PayloadClass<T = unknown> = abstract new (...args: never[]) => T;

declare const TYPE: unique symbol;

/** A payload whose type only the compiler knows; nothing checks it at run time. */
export interface BarePayload<T> {
  /** For the compiler only. */
  readonly [TYPE]?: T;
  /** Distinguishes a bare type from schemas and classes. */
  readonly unchecked: true;
}

const BARE: BarePayload<never> = { unchecked: true };

/**
 * Declares a payload by its type alone. Nothing checks the payload at run time.
 * @example
 * ```ts
 * class Notes extends DelayQueue('notes', payload<{ text: string }>()) {}
 * ```
 */
export function payload<T>(): BarePayload<T> {
  return BARE;
}

/** The types of a Standard Schema. */
export interface TypedSchema<Input, Output> {
  /** The property that the standard defines. */
  readonly '~standard': {
    /** For the compiler only. */
    readonly types?:
      | {
          /** The type that the schema accepts. */
          readonly input: Input;
          /** The type that the schema returns. */
          readonly output: Output;
        }
      | undefined;
  };
}

/** The type of an offered payload. */
export type PayloadInput<Spec> = Spec extends TypedSchema<infer Input, unknown> ? Input : PayloadOutput<Spec>;

/** The type of the payload that the handler gets. */
export type PayloadOutput<Spec> =
  Spec extends TypedSchema<unknown, infer Output>
    ? Output
    : Spec extends BarePayload<infer T> | PayloadClass<infer T>
      ? T
      : never;

function isPayloadSpec(spec: unknown): spec is PayloadSpec {
  return isSchema(spec) || isBare(spec) || (typeof spec === 'function' && typeof spec.prototype === 'object');
}

/** True for a bare type made by any copy of this package. */
function isBare(spec: unknown): boolean {
  return typeof spec === 'object' && (spec as Partial<BarePayload<unknown>> | null)?.unchecked === true;
}
