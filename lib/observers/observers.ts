import { DelayQueueError } from '../message/delay-queue-errors.js';
import type { DelayQueueEvent, EventName } from '../message/delay-queue-events.js';
import {
  type Around,
  type DelayQueueObserver,
  type HookLimit,
  type Hooks,
  isObserver,
} from '../message/delay-queue-observer.js';
import type { Events } from '../events/events.js';
import { isThenable, showFailure } from '../message/failure.js';
import { isIterator, UnusedIterator } from '../message/handler-results.js';
import type { CancelTimer, Clock } from '../timing/clock.js';
import { OnceAMinute } from '../timing/pauses.js';

/** Returns an observer's name for the log. */
export function nameOf(observer: object, fallback: string): string {
  const { name } = observer.constructor;
  return name === 'Object' || name === '' ? fallback : name;
}

/** The observers of this process. The log is not one: it listens only for the events that it logs, so no others are created for it. */
export class Observers implements Hooks {
  offer: Hooks['offer'];
  handle: Hooks['handle'];
  handleBatch: Hooks['handleBatch'];

  constructor(
    private readonly events: Events,
    private readonly clock: Clock,
    /** Undefined for the instance without a name. */
    private readonly instance?: string,
  ) {}

  /** Adds an observer inside the existing ones. Throws `INVALID_OPTION` if the observer's `forInstance` does not return an observer. */
  add(given: DelayQueueObserver, name: string): void {
    const observer = this.#ofInstance(given, name);
    const owner = this.#ownerOf(name);
    if (observer.event) this.events.watch((event) => callHook(() => observer.event!(event), owner));
    if (observer.offer) {
      const outer = this.offer;
      const inner: typeof outer = (offers, work, limit) =>
        surround((next) => observer.offer!(offers, next as never), work, owner, limit);
      this.offer = outer
        ? (offers, work, limit) =>
            outer(offers, (theirs) => inner(offers, (own) => work({ ...own, ...theirs }), limit), limit)
        : inner;
    }
    if (observer.handle) {
      this.handle = inside(this.handle, (message, work, limit) =>
        surround((next) => observer.handle!(message, next), work, owner, limit),
      );
    }
    if (observer.handleBatch) {
      this.handleBatch = inside(this.handleBatch, (messages, work, limit) =>
        surround((next) => observer.handleBatch!(messages, next), work, owner, limit),
      );
    }
  }

  /**
   * Calls a listener's method for each event of a given name.
   * @param listener - `isWanted`: true if the listener wants a queue's events; `place`: class and method, for the log
   */
  listen<Name extends EventName>(
    name: Name,
    listener: {
      readonly place: string;
      readonly isWanted: (queue: string | undefined) => boolean;
      readonly call: (event: DelayQueueEvent<Name>) => unknown;
    },
  ): void {
    const owner = this.#ownerOf(listener.place);
    this.events.on(name, (event) => {
      if (!listener.isWanted('queue' in event ? event.queue : undefined)) return;
      callHook(() => listener.call(this.events.complete(name, event)), owner);
    });
  }

  #ofInstance(given: DelayQueueObserver, name: string): DelayQueueObserver {
    if (this.instance === undefined || !given.forInstance) return given;
    const observer: unknown = given.forInstance(this.instance);
    if (isObserver(observer)) return observer;
    throw new DelayQueueError('INVALID_OPTION', `${name}: forInstance() must return an observer`);
  }

  #ownerOf(name: string): HookOwner {
    return { name, complain: this.#complaintsOf(name), clock: this.clock };
  }

  /** Makes a function that reports an observer's errors, at most once a minute. */
  #complaintsOf(observer: string): Complain {
    const limit = new OnceAMinute(this.clock);
    return (error) => {
      if (!limit.isDue) return;
      limit.reported();
      this.events.note('observer-failed', { observer, reason: showFailure(error) });
    };
  }
}

function inside<Subject, Result>(
  outer: Around<Subject, never, Result> | undefined,
  inner: Around<Subject, never, Result>,
): Around<Subject, never, Result> {
  return outer ? (subject, work, limit) => outer(subject, () => inner(subject, work, limit), limit) : inner;
}

function callHook(call: () => unknown, owner: HookOwner): void {
  void surround(call, () => undefined, owner);
}

/** Called with an error that a hook threw. */
type Complain = (error: unknown) => void;

interface HookOwner {
  readonly name: string;
  /** Called with errors that the hook itself throws, but not with failures of the work inside it. */
  readonly complain: Complain;
  readonly clock: Pick<Clock, 'schedule'>;
}

/**
 * Runs some work inside an application's hook, which is expected to call `next`. The work runs once, and its result counts, even if the
 * hook throws, never calls `next`, or calls it twice. If the hook is slow to call `next`, the work waits, but no longer than the limit.
 * Nothing waits for what the hook does after `next`.
 * @param work - must not throw, except to refuse its argument before it has done anything
 * @param limit - default: no limit
 */
export function surround<Argument, Result>(
  hook: (next: (argument?: Argument) => Result | Promise<Result>) => unknown,
  work: (argument?: Argument) => Result | Promise<Result>,
  owner: HookOwner,
  limit?: HookLimit<Result>,
): Result | Promise<Result> {
  let done: { readonly result: Result | Promise<Result> } | undefined;
  let onDone: (result: Result | Promise<Result>) => void = () => undefined;
  let hasFailed = false;
  const end = (result: Result | Promise<Result>) => {
    done = { result };
    if (result instanceof Promise) result.catch(() => (hasFailed = true));
    onDone(result);
    return result;
  };
  const next = (argument?: Argument) => (done ? done.result : end(work(argument)));
  let ended: Promise<unknown> | undefined;
  try {
    const returned = hook(next);
    if (isThenable(returned)) ended = Promise.resolve(returned);
    else refuseIterator(returned);
  } catch (error) {
    owner.complain(error);
  }
  if (!ended) return next();
  const checked = ended.then(refuseIterator).catch((error: unknown) => {
    if (!hasFailed) owner.complain(error);
  });
  if (done) return done.result;
  return new Promise((resolve) => {
    const stopWaiting = atTheEndOf(limit, owner, end);
    onDone = (result) => {
      stopWaiting?.();
      resolve(result);
    };
    void checked.then(() => void next());
  });
}

/** Throws {@link UnusedIterator} if the hook is a generator compiled to a plain function. */
function refuseIterator(returned: unknown): void {
  if (isIterator(returned)) throw new UnusedIterator('it');
}

function atTheEndOf<Result>(
  limit: HookLimit<Result> | undefined,
  { name, clock }: HookOwner,
  end: (result: Result | Promise<Result>) => unknown,
): CancelTimer | undefined {
  const timeout = limit?.timeout ?? null;
  return timeout === null ? undefined : clock.schedule(() => end(limit!.onTimeout(name, timeout)), timeout);
}
