import type { CanActivate, FactoryProvider, ModuleMetadata, Type } from '@nestjs/common';
import { DelayQueueError, type HandledMessage, type MessageHeaders, type MessageSnapshot } from 'nestjs-delay-queue';

/** A request as Express or Fastify presents it, such as `express.Request`. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the application says which
export type BoardRequest = any;

/** What the board may show of a message. What is left out is not shown. */
export interface ShownMessage {
  readonly payload?: unknown;
  readonly headers?: MessageHeaders | undefined;
}

/** A change that somebody made on the board. */
export interface BoardChange {
  /** What `who` returned; undefined without it. */
  readonly who: string | undefined;
  readonly action:
    | 'pause'
    | 'resume'
    | 'deliver'
    | 'reschedule'
    | 'change'
    | 'cancel'
    | 'abort'
    | 'redrive'
    | 'discard'
    | 'cancel-group'
    | 'pause-group'
    | 'resume-group'
    | 'set-group-concurrency'
    | 'pause-repeat'
    | 'resume-repeat'
    | 'run-repeat'
    | 'end-repeat'
    | 'set-limits'
    | 'reset-limits';
  /** The instance's name; `-` for the one without a name. */
  readonly instance: string;
  readonly queue: string;
  /** The messages that were named. */
  readonly ids?: readonly string[];
  /** The filter that messages had to match. */
  readonly filter?: object;
  /** The group whose settings were changed. */
  readonly group?: string;
  /** For `set-group-concurrency`: its new value. */
  readonly concurrency?: number | 'unlimited' | 'default';
  /** The number of messages changed; for changes of a queue or of a group's settings, 0. */
  readonly count: number;
  /** Why the change failed or was stopped. It may have been carried out in part. */
  readonly error?: string;
  readonly at: Date;
}

/** The options of the board. */
export interface DelayQueueBoardOptions {
  /** The path of the page, which a global prefix does not change. Default: `/delay-queues`. */
  readonly path?: string | undefined;
  /**
   * Guards that each request must pass: for the page, its files, the API and the events. Classes may inject. The application's global guards do
   * not protect the board. Default: none; the board then serves this machine only.
   */
  readonly guards?: readonly (Type<CanActivate> | CanActivate)[] | undefined;
  /** True: nothing can be changed. Default: false. */
  readonly readOnly?: boolean | undefined;
  /** Returns true if the sender of a request may make changes. Default: everybody who passes the guards. */
  readonly mayChange?: ((request: BoardRequest) => boolean | Promise<boolean>) | undefined;
  /** The names of the instances to show; `-` for the one without a name. Default: all. */
  readonly instances?: readonly string[] | undefined;
  /** Returns the name of a request's sender, for the log and for `onChange`. */
  readonly who?: ((request: BoardRequest) => string | Promise<string>) | undefined;
  /**
   * Returns what may be shown of a message's payload and headers; undefined to show neither. Everything else, such as ids, types and errors, is
   * shown as it is. Also called for handled messages whose payloads are kept. Text cannot be searched, nor payloads changed, while this option is set.
   */
  readonly show?: ((message: MessageSnapshot | HandledMessage) => ShownMessage | undefined) | undefined;
  /** Called after each change. The log has a line for each, too. */
  readonly onChange?: ((change: BoardChange) => void | Promise<void>) | undefined;
}

/** Creates the board's options from other providers. */
export interface DelayQueueBoardAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  readonly inject?: FactoryProvider['inject'];
  readonly useFactory: FactoryProvider<DelayQueueBoardOptions | Promise<DelayQueueBoardOptions>>['useFactory'];
}

/** Checked options. */
export interface BoardOptions extends DelayQueueBoardOptions {
  readonly path: string;
  readonly guards: readonly (Type<CanActivate> | CanActivate)[];
  readonly readOnly: boolean;
}

const PATH = /^(\/[\w.~-]+)+$/;
const FUNCTIONS = ['mayChange', 'who', 'show', 'onChange'] as const;
const FIELDS: readonly string[] = ['path', 'guards', 'readOnly', 'instances', ...FUNCTIONS];

export function invalidOption(place: string, problem: string, cause?: unknown): DelayQueueError {
  return new DelayQueueError('INVALID_OPTION', `DelayQueueBoardModule.${place}: ${problem}`, { cause });
}

/** Checks the options. @throws DelayQueueError `INVALID_OPTION`, naming the field and the fix */
export function readOptions(place: string, given: DelayQueueBoardOptions): BoardOptions {
  const refuse = (problem: string) => invalidOption(place, problem);
  if (typeof given !== 'object' || (given as unknown) === null || Array.isArray(given)) {
    throw refuse(`must be given an options object, not ${kindOf(given)}`);
  }
  const options = { ...given };
  for (const field of Object.keys(options)) {
    if (!FIELDS.includes(field)) throw refuse(`${field}: no such option; the options are ${FIELDS.join(', ')}`);
  }
  const { path = '/delay-queues', guards = [], readOnly = false, instances } = options;
  if (typeof path !== 'string' || !PATH.test(path) || /\/\.{1,2}(\/|$)/.test(path)) {
    throw refuse(
      "path: must begin with '/', not end with it, and have only A–Z a–z 0–9 _ . ~ - between: '/delay-queues'",
    );
  }
  if (!Array.isArray(guards)) throw refuse(`guards: must be a list of Nest guards, not ${kindOf(guards)}`);
  guards.forEach((guard: unknown, i) => {
    if (!isGuard(guard))
      throw refuse(`guards[${i}]: must be a class or an object with canActivate(), not ${kindOf(guard)}`);
  });
  if (typeof readOnly !== 'boolean') throw refuse(`readOnly: must be true or false, not ${kindOf(readOnly)}`);
  if (instances !== undefined && !isListOfNames(instances)) {
    throw refuse(
      "instances: must be a list of instances' names, with '-' for the one without a name: ['-', 'billing']",
    );
  }
  for (const field of FUNCTIONS) {
    const value: unknown = options[field];
    if (value !== undefined && typeof value !== 'function') {
      throw refuse(`${field}: must be a function, not ${kindOf(value)}`);
    }
  }
  return { ...options, path, guards: [...(guards as BoardOptions['guards'])], readOnly };
}

function isGuard(value: unknown): boolean {
  const target: unknown = typeof value === 'function' ? value.prototype : value;
  return typeof (target as Partial<CanActivate> | null | undefined)?.canActivate === 'function';
}

function isListOfNames(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === 'string' && name !== '');
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : `a value of type ${typeof value}`;
}
