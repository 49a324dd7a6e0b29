import type { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { systemClock } from '../timing/clock.js';
import { inSlices } from '../timing/slices.js';
import { type HandlerMethod, prototypeOf } from './handler-method.js';
import type { InstanceWrapper } from './nest-internals.js';

/** A method of a class that Nest knows, decorated or not. */
export type HostedMethod = Omit<HandlerMethod, 'place'>;

/** What is done with what is found. */
export interface ClassVisitor {
  readonly onClass: (host: InstanceWrapper, prototype: object | undefined) => void;
  readonly onMethod: (method: HostedMethod) => void;
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
