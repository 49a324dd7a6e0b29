import { DelayQueueError, type DelayQueueErrorCode } from '../message/delay-queue-errors.js';
import type { InstanceWrapper } from './nest-internals.js';
import { types } from 'node:util';
import { type ClassMethod, fullNameOf } from './class-explorer.js';
import type { DeclaredMethod, DecoratorKind } from './declared-methods.js';

/** The metadata in which the compiler and `@Inject()` record constructor parameters. */
const KNOWN_PARAMETERS = ['design:paramtypes', 'self:paramtypes'];

type Class = abstract new (...args: never) => object;

/**
 * Refuses a class whose constructor Nest would silently call without arguments.
 * @param place - decorator, class and method, for the error
 */
export function assertInjected(host: InstanceWrapper, place: string, code: DelayQueueErrorCode): void {
  const { metatype } = host;
  // Nest does not construct what a factory or a value provides.
  if (typeof metatype !== 'function' || host.isNotMetatype) return;
  // Includes metadata inherited from a base class, as Nest does.
  if (KNOWN_PARAMETERS.some((key) => Reflect.hasMetadata(key, metatype))) return;
  if (metatype.length > 0) {
    throw new DelayQueueError(
      code,
      `${place}: the constructor of ${metatype.name} takes arguments, but Nest does not know which and would inject nothing: ` +
        'decorate the class with @Injectable(), and have the compiler emit decorator metadata',
    );
  }
  const base = constructorOf(metatype as Class);
  if (base === metatype || !lacksProperty(base, host.instance)) return;
  throw new DelayQueueError(
    code,
    `${place}: ${metatype.name} has no constructor, and that of ${base.name}, which it extends, takes arguments, but Nest does not know ` +
      `which and has injected nothing: decorate ${base.name} with @Injectable() as well, or give ${metatype.name} a constructor`,
  );
}

/** Returns the class that declares the constructor: the class itself or one that it extends. */
function constructorOf(type: Class): Class {
  const base: unknown = Object.getPrototypeOf(type);
  if (typeof base !== 'function' || base === Function.prototype || !lacksConstructor(type)) return type;
  return constructorOf(base as Class);
}

/** Matches a constructor, but not a call such as `new this.constructor(…)`. */
const CONSTRUCTOR = /(?<![.\w$])constructor\s*\(([^)]*)\)/;

/** Matches the constructor that compilers generate for a class whose fields have initial values. */
const GENERATED = /(?<![.\w$])constructor\s*\((?:\.\.\.([\w$]+))?\)\s*\{\s*super\(\.\.\.(?:arguments|\1)\)/;

function lacksConstructor(type: Class): boolean {
  const source = Function.prototype.toString.call(type);
  return /^class\b/.test(source) && (!CONSTRUCTOR.test(source) || GENERATED.test(source));
}

/**
 * True if a constructor has assigned a parameter to a property, as `constructor(private readonly dep: Dep)` does, and the property is
 * undefined. A parameter used in any other way may be optional, which cannot be seen at run time.
 */
function lacksProperty(type: Class, instance: unknown): boolean {
  const source = Function.prototype.toString.call(type);
  if (!/^class\b/.test(source)) return false;
  const parameters = CONSTRUCTOR.exec(source)?.[1] ?? '';
  const names = parameters.split(',').map((parameter) => parameter.trim());
  return names.some((name) => {
    if (!/^[\w$]+$/.test(name)) return false;
    const kept = new RegExp(`\\bthis\\.(#?[\\w$]+)\\s*=\\s*${name.replaceAll('$', '\\$')}\\s*[;,})\\n]`).exec(source);
    return kept !== null && (instance as Record<string, unknown> | null)?.[kept[1]!] === undefined;
  });
}

/** Refuses a declared method that would not run as declared. */
export function assertCallable(
  method: ClassMethod,
  { decorated }: Pick<DeclaredMethod<unknown>, 'decorated'>,
  { decorator, code }: DecoratorKind,
): void {
  const problem = problemWith(method, decorated);
  if (problem) throw new DelayQueueError(code, `${decorator} on ${fullNameOf(method)}: ${problem}`);
}

function problemWith({ prototype, name }: ClassMethod, decorated: object): string | undefined {
  const present = descriptorOf(prototype, name);
  const method: unknown = present?.value;
  if (typeof method !== 'function') {
    const found = present?.get ? 'an accessor instead of the method' : 'no longer a method in its place';
    return `there is ${found}: remove the decorator above it, or whatever else replaced it`;
  }
  if (types.isGeneratorFunction(method) || types.isGeneratorFunction(decorated)) {
    return 'it is a generator (*), whose body would never run: write an ordinary or async method';
  }
  const lost = lostMetadata(decorated, method);
  if (lost.length === 0) return undefined;
  return (
    `what has replaced the method, a decorator above it or an override, hides what else is declared about it (${lost.join(', ')}): ` +
    'put those decorators above the one that wraps the method, or on the override, with this one'
  );
}

function descriptorOf(prototype: object, name: string | symbol): PropertyDescriptor | undefined {
  for (let each: object | null = prototype; each; each = Object.getPrototypeOf(each) as object | null) {
    const own = Object.getOwnPropertyDescriptor(each, name);
    if (own) return own;
  }
  return undefined;
}

/** Names the metadata of a decorated method, such as its guards, that Nest would not find on the method's replacement. */
function lostMetadata(decorated: object, present: object): string[] {
  const isOurs = (key: unknown) => typeof key === 'symbol' && key.description?.startsWith('nestjs-delay-queue:');
  const keys = (Reflect.getOwnMetadataKeys(decorated) as unknown[]).filter((key) => !isOurs(key));
  return keys
    .filter((key) => !isKept(Reflect.getOwnMetadata(key, decorated), Reflect.getMetadata(key, present)))
    .map(String);
}

function isKept(before: unknown, now: unknown): boolean {
  if (!Array.isArray(before)) return now !== undefined;
  return Array.isArray(now) && before.every((each) => now.includes(each));
}
