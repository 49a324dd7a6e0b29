import type { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { systemClock } from '../timing/clock.js';
import { inSlices } from '../timing/slices.js';
import type { InstanceWrapper } from './nest-internals.js';

/** What has the methods of a class. */
export type Instance = Record<string, (...args: unknown[]) => unknown>;

/** A method of a class that Nest knows. A scoped provider has no instance yet, so this is the method of the class. */
export interface ClassMethod {
  /** Where Nest keeps the class and its instances. */
  readonly host: InstanceWrapper;
  readonly prototype: object;
  readonly name: string;
}

/** Class and method, for people. */
export function fullNameOf({ host, name }: ClassMethod): string {
  return `${String(host.name)}.${name}`;
}

/** The method that the decorators have decorated; an instance may have something else in its place, such as a spy. */
export function decoratedMethod({ prototype, name }: ClassMethod): (...args: unknown[]) => unknown {
  return (prototype as Instance)[name]!;
}

export interface ClassVisitor {
  readonly onClass: (host: InstanceWrapper, prototype: object | undefined) => void;
  readonly onMethod: (method: ClassMethod) => void;
}

/** Visits the classes of all providers and controllers, and all their methods, inherited ones too. The event loop turns meanwhile. */
export async function exploreClasses(
  discovery: DiscoveryService,
  scanner: MetadataScanner,
  visitor: ClassVisitor,
): Promise<void> {
  const hosts = [...discovery.getProviders(), ...discovery.getControllers()];
  await inSlices(visitsTo(hosts, scanner, visitor), systemClock, (visit) => visit());
}

function* visitsTo(
  hosts: readonly InstanceWrapper[],
  scanner: MetadataScanner,
  { onClass, onMethod }: ClassVisitor,
): Generator<() => void> {
  for (const host of hosts) {
    // An alias has the same instance as its target.
    if (host.isAlias) continue;
    const prototype = prototypeOf(host);
    yield () => onClass(host, prototype);
    if (!prototype) continue;
    for (const name of scanner.getAllMethodNames(prototype)) yield () => onMethod({ host, prototype, name });
  }
}

function prototypeOf({ instance, metatype }: InstanceWrapper): object | undefined {
  if (typeof instance === 'object' && instance !== null) return Object.getPrototypeOf(instance) as object;
  return typeof metatype === 'function' ? (metatype.prototype as object | undefined) : undefined;
}
