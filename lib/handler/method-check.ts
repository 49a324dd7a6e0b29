import { types } from 'node:util';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { type ClassMethod, fullNameOf } from './class-explorer.js';
import type { DeclaredMethod, DecoratorKind } from './declared-methods.js';

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
