import { Observable } from 'rxjs';
import { again, DeferMessage, RejectMessage, RetryMessage } from '../../lib/index.js';

/** Throws: what it stands for must not be touched. */
export const refuse = (): never => {
  throw new Error('do not touch');
};

function withGetter<T extends object>(target: T, property: string): T {
  return Object.defineProperty(target, property, { get: refuse });
}

/** A proxy that throws whatever is done with it. */
export function revoked<T extends object>(target: T): T {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

const revokedProxy = () => revoked({});

function hostileProxy(): object {
  return new Proxy(new Error('hidden'), {
    get: refuse,
    getPrototypeOf: refuse,
    has: refuse,
    getOwnPropertyDescriptor: refuse,
  });
}

/** Things that throw when they are looked at, as careless code and broken libraries make them, by what they are. */
export const ODD_VALUES: Readonly<Record<string, () => unknown>> = {
  'an error whose message throws': () => withGetter(new TypeError('x'), 'message'),
  'an error whose name throws': () => withGetter(new TypeError('named'), 'name'),
  'an error whose stack throws': () => withGetter(new TypeError('stacked'), 'stack'),
  'an error whose message cannot be shown': () => Object.assign(new Error('x'), { message: { toString: refuse } }),
  'an error whose stack is a number': () => Object.assign(new Error('x'), { stack: 7 }),
  'an object whose toString throws': () => ({ toString: refuse }),
  'an object whose conversion throws': () => ({ [Symbol.toPrimitive]: refuse }),
  'an object whose getters throw': () => ['name', 'message', 'stack', 'then', 'toString'].reduce(withGetter, {}),
  'an object without a prototype': () => Object.create(null) as unknown,
  'a revoked proxy': revokedProxy,
  'a proxy that refuses everything': hostileProxy,
  'a symbol': () => Symbol('odd'),
  'a function': () => refuse,
  nothing: () => undefined,
  'a DeferMessage whose delay throws': () => withGetter(new DeferMessage(1), 'delay'),
  'a DeferMessage without a delay': () => Object.create(DeferMessage.prototype) as unknown,
  'a DeferMessage that lasts for ever': () => Object.assign(new DeferMessage(1), { delay: Infinity }),
  'a DeferMessage whose delay is an odd object': () =>
    Object.assign(new DeferMessage(1), { delay: { toString: refuse } }),
  'a RetryMessage whose delay throws': () => withGetter(new RetryMessage(1), 'delay'),
  'a RetryMessage without a delay': () => Object.create(RetryMessage.prototype) as unknown,
  'a RetryMessage that lasts for ever': () => Object.assign(new RetryMessage(1), { delay: Infinity }),
  'a RejectMessage whose message throws': () => withGetter(new RejectMessage('x'), 'message'),
};

/** Results that fail in odd ways when they are waited for, by what they are. */
export const ODD_RESULTS: Readonly<Record<string, () => unknown>> = {
  'a revoked proxy': revokedProxy,
  'a proxy that refuses everything': hostileProxy,
  'an object whose then throws when it is read': () => withGetter({}, 'then'),
  'a thenable that throws': () => ({ then: refuse }),
  'a thenable that rejects, and then resolves': () => ({
    then: (resolve: () => void, reject: (reason: unknown) => void) => {
      reject(new Error('first'));
      resolve();
    },
  }),
  'a thenable that rejects twice': () => ({
    then: (_resolve: unknown, reject: (reason: unknown) => void) => [reject(new Error('1')), reject(new Error('2'))],
  }),
  'a thenable that throws later a revoked proxy': () => ({
    then: (_resolve: unknown, reject: (reason: unknown) => void) => void setImmediate(() => reject(revokedProxy())),
  }),
  'a rejected promise whose then throws': () => Object.assign(Promise.reject(new Error('x')), { then: refuse }),
  'a promise whose constructor throws': () => withGetter(Promise.resolve(), 'constructor'),
  'an Again whose delay throws': () => withGetter(again(1), 'delay'),
  'an Again without a delay': () => Object.create(Object.getPrototypeOf(again(1)) as object) as unknown,
  'an Again that lasts for ever': () => Object.assign(again(1), { delay: Infinity }),
  'an Again whose payload throws': () => withGetter(again(1), 'payload'),
  'an Again whose payload cannot be written': () => again(1, { payload: withGetter({}, 'toJSON') }),
  'an observable that throws when it is subscribed to': () => new Observable(refuse),
  'an observable that errs with a revoked proxy': () => new Observable((observer) => observer.error(revokedProxy())),
  'what looks like an observable and throws': () => ({ lift: refuse, subscribe: refuse }),
  'an object whose lift throws when it is read': () => withGetter({ subscribe: refuse, then: refuse }, 'lift'),
};
