import { type DefinedBy, DelayQueueError, type RetryOptions } from 'nestjs-delay-queue';
import { invalid, readQueueName } from './arguments.js';
import { shown } from './shown.js';

/** The queue of an offer, and the check of its payloads. */
export interface KnownQueue {
  readonly name: string;
  /** The types of a typed queue; undefined if it has messages without a type, or the queue is not typed. */
  readonly types: readonly string[] | undefined;
  /** True if it was given as a class. */
  readonly isTyped: boolean;
  /** Returns the attempts and backoff of messages of a type. */
  retriesOf(type: string | undefined): RetryOptions | undefined;
  /** @throws DelayQueueError `INVALID_PAYLOAD`, `INVALID_ARGUMENT` for an unknown type */
  check(type: string | undefined, payload: unknown): Promise<void>;
}

interface Schema {
  readonly '~standard': { readonly validate: (value: unknown) => unknown };
}

interface Issue {
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Maximum number of paths in an error. */
const MAX_PATHS = 10;

/**
 * Reads a queue's name, or the class of a typed queue.
 * @param instance - of the module that messages are relayed to
 * @throws DelayQueueError `INVALID_ARGUMENT`
 */
export function knownQueue(queue: string | DefinedBy<unknown>, instance: string | undefined): KnownQueue {
  const definition = typeof queue === 'function' ? (queue as Partial<DefinedBy<unknown>>).definition : undefined;
  if (definition === undefined) {
    if (typeof queue === 'function') throw invalid('queue: must be a name, or a class made by DelayQueue()');
    const nothing = { retriesOf: () => undefined, check: () => Promise.resolve() };
    return { name: readQueueName(queue), types: undefined, isTyped: false, ...nothing };
  }
  const name = readQueueName(definition.queue);
  if (definition.instance !== instance) throw elsewhere(name, definition.instance);
  const { payloads, retries } = definition;
  // Checked by DelayQueue(): none of them is a function.
  const retriesOf = (type = '') => retries.get(type) as RetryOptions | undefined;
  if (isPayloadSpec(payloads)) {
    const check = (_type: string | undefined, payload: unknown) => checked(payloads, payload, name);
    return { name, types: undefined, isTyped: true, retriesOf, check };
  }
  const specs = new Map(Object.entries(payloads as Readonly<Record<string, unknown>>));
  const types = [...specs.keys()];
  return {
    name,
    types,
    isTyped: true,
    retriesOf,
    check: (type, payload) => {
      if (type !== undefined && specs.has(type)) return checked(specs.get(type), payload, name);
      const given = type === undefined ? 'none' : shown(type);
      return Promise.reject(invalid(`type: queue '${name}' has the types ${types.join(', ')}; given: ${given}`));
    },
  };
}

function elsewhere(queue: string, instance: string | undefined): DelayQueueError {
  const token = instance === undefined ? 'DelayQueueProducer' : `getDelayQueueProducerToken('${instance}')`;
  const problem = `'${queue}' belongs to another instance of DelayQueueModule than the one that this outbox relays to`;
  return invalid(`queue: ${problem}: use an outbox with producer: ${token}`);
}

function isPayloadSpec(spec: unknown): boolean {
  return typeof spec === 'function' || isSchema(spec) || (spec as { unchecked?: unknown } | null)?.unchecked === true;
}

function isSchema(spec: unknown): spec is Schema {
  if ((typeof spec !== 'object' && typeof spec !== 'function') || spec === null) return false;
  return typeof (spec as Partial<Schema>)['~standard']?.validate === 'function';
}

/** Checks what the handler will get. The error names paths and no values, because payloads must not get into logs. */
async function checked(spec: unknown, payload: unknown, queue: string): Promise<void> {
  if (!isSchema(spec)) return;
  const refuse = (problem: string, cause?: unknown) =>
    new DelayQueueError('INVALID_PAYLOAD', `payload of queue '${queue}': ${problem}`, { cause });
  let result: { readonly issues?: readonly Issue[] };
  try {
    result = (await spec['~standard'].validate(payload)) as typeof result;
  } catch (cause) {
    throw refuse(`the schema failed (${String(cause)})`, cause);
  }
  if (result.issues) throw refuse(`the schema refuses ${pathsOf(result.issues)}`);
}

function pathsOf(issues: readonly Issue[]): string {
  const paths = [...new Set(issues.map(({ path = [] }) => showPath(path)))];
  return paths.slice(0, MAX_PATHS).join(', ') + (paths.length > MAX_PATHS ? ', …' : '');
}

function showPath(path: NonNullable<Issue['path']>): string {
  return ['payload', ...path.map((part) => String(typeof part === 'object' ? part.key : part))].join('.');
}
