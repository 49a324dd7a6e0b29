const tagOf = (value) => Object.prototype.toString.call(value).slice(8, -1);
const isBoxed = (name) => (value) => typeof value === 'object' && tagOf(value) === name;

export const types = {
  isDate: (value) => value instanceof Date,
  isPromise: (value) => value instanceof Promise,
  isNativeError: (value) => value instanceof Error,
  isProxy: () => false,
  isMap: (value) => value instanceof Map,
  isSet: (value) => value instanceof Set,
  isNumberObject: isBoxed('Number'),
  isStringObject: isBoxed('String'),
  isBooleanObject: isBoxed('Boolean'),
  isBigIntObject: isBoxed('BigInt'),
  isSymbolObject: isBoxed('Symbol'),
  isBoxedPrimitive: (value) =>
    typeof value === 'object' && /^(Number|String|Boolean|BigInt|Symbol)$/.test(tagOf(value)),
  isTypedArray: (value) => ArrayBuffer.isView(value) && !(value instanceof DataView),
  isUint8Array: (value) => value instanceof Uint8Array,
  isRegExp: (value) => value instanceof RegExp,
  isAsyncFunction: (value) => tagOf(value) === 'AsyncFunction',
  isGeneratorFunction: (value) => typeof value === 'function' && /GeneratorFunction$/.test(tagOf(value)),
  isGeneratorObject: (value) => tagOf(value) === 'Generator',
  isWeakMap: (value) => value instanceof WeakMap,
  isWeakSet: (value) => value instanceof WeakSet,
  isAnyArrayBuffer: (value) => /^(Shared)?ArrayBuffer$/.test(tagOf(value)),
  isArrayBufferView: (value) => ArrayBuffer.isView(value),
};

export const inspect = Object.assign((value) => String(value), { custom: Symbol.for('nodejs.util.inspect.custom') });
export const isDeepStrictEqual = (a, b) => JSON.stringify(a) === JSON.stringify(b);
export const inherits = (child, parent) => Object.setPrototypeOf(child.prototype, parent.prototype);
export const deprecate = (called) => called;
export const promisify =
  (called) =>
  (...args) =>
    new Promise((resolve, reject) => called(...args, (error, value) => (error ? reject(error) : resolve(value))));
export const format = (...values) => values.join(' ');
export default { types, inspect, isDeepStrictEqual, inherits, deprecate, promisify, format };
