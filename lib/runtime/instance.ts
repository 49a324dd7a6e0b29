import { Inject, Injectable, type OnModuleInit, type ValueProvider } from '@nestjs/common';
import { ModuleRef, ModulesContainer } from '@nestjs/core';
import { Events } from '../events/events.js';
import { HandlerRegistry } from '../handler/handler-registry.js';
import { INSTANCE, instanceNames } from '../handler/instance-names.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { showInstances, showUnknownInstance, UNNAMED } from '../message/instance-name.js';
import type { ResolvedModuleOptions } from '../options/module-options-schema.js';
import type { Stores } from './create-stores.js';
import { RESOLVED_OPTIONS, STORES } from './delay-queue-tokens.js';
import { Queues } from './queues.js';
import { isDeepStrictEqual } from 'node:util';

/** The parts of one instance of the module, for use from outside it. */
@Injectable()
export class Instance {
  constructor(
    /** The instance's name; empty for the unnamed one. */
    @Inject(INSTANCE) readonly name: string,
    @Inject(RESOLVED_OPTIONS) readonly options: ResolvedModuleOptions,
    @Inject(STORES) readonly stores: Stores,
    readonly events: Events,
    readonly handlers: HandlerRegistry,
    readonly queues: Queues,
  ) {}
}

export function namedInstance(name: string): ValueProvider<string> {
  return { provide: INSTANCE, useValue: name };
}

/** Returns all instances in an application. Nest throws if there are none. */
export function instancesOf(app: Pick<ModuleRef, 'get'>): Instance[] {
  return app.get(Instance, { strict: false, each: true });
}

/** Finds an instance by a user-supplied name; throws `INVALID_OPTION` if there is none. */
export function findInstance(app: Pick<ModuleRef, 'get'>, name: string): Instance {
  const instances = instancesOf(app);
  const found = instances.find((instance) => instance.name === name);
  if (found) return found;
  const known = instances.map((instance) => instance.name);
  throw new DelayQueueError('INVALID_OPTION', `instance: ${showUnknownInstance(name, known)}`);
}

/** Rejects two instances that would take each other's messages. Runs before anything connects. */
@Injectable()
export class InstanceCheck implements OnModuleInit {
  constructor(
    @Inject(INSTANCE) private readonly name: string,
    private readonly app: ModuleRef,
    private readonly modules: ModulesContainer,
  ) {}

  onModuleInit(): void {
    const instances = instancesOf(this.app);
    if (instanceNames(this.app).length > instances.length) throw ofTwoCopies();
    if (instances.filter(({ name }) => name === this.name).length > 1) throw this.#importedTwice();
    for (const [i, instance] of instances.entries()) {
      const other = instances.slice(0, i).find(({ stores }) => isSharedPlace(stores, instance.stores));
      if (other) throw atOnePlace(other, instance);
    }
  }

  /** Returns the error for an instance that is imported twice: both would serve every handler, and either producer might be injected. */
  #importedTwice(): DelayQueueError {
    const metatypes = [...this.modules.values()].map(({ metatype }) => metatype);
    const importers = metatypes.filter((metatype) => this.#isImportedBy(metatype)).map(({ name }) => name);
    const places = importers.length > 0 ? ` (by ${importers.sort().join(', ')})` : '';
    const [what, advice] =
      this.name === UNNAMED
        ? ['DelayQueueModule', 'call forRoot() once, import it in the root module, and give each further one a name']
        : [`DelayQueueModule.forRoot({ name: '${this.name}' })`, 'call it once, or give each a name of its own'];
    return new DelayQueueError(
      'INVALID_OPTION',
      `${what} is imported more than once${places}: ${advice}. It is global, so other modules need no import`,
    );
  }

  /** True if the module's decorator imports this instance. Reads the decorator, because at run time all modules import a global module. */
  #isImportedBy(metatype: object): boolean {
    const imports = Reflect.getMetadata('imports', metatype) as { readonly providers?: unknown }[] | undefined;
    return (imports ?? []).some(({ providers } = {}) => Array.isArray(providers) && providers.some(this.#isOwnName));
  }

  readonly #isOwnName = (provider: Partial<ValueProvider> | undefined) =>
    provider?.provide === INSTANCE && provider.useValue === this.name;
}

/** Returns the error for two copies of this package: each would serve every handler, whichever copy decorated it. */
function ofTwoCopies(): DelayQueueError {
  return new DelayQueueError(
    'INVALID_OPTION',
    'DelayQueueModule is imported from two copies of nestjs-delay-queue: install one for the whole application. `npm ls nestjs-delay-queue` ' +
      'shows who has which; a library should have it among its peerDependencies',
  );
}

function isSharedPlace({ place }: Instance['stores'], other: Instance['stores']): boolean {
  return place !== undefined && isDeepStrictEqual(place, other.place);
}

function atOnePlace(one: Instance, other: Instance): DelayQueueError {
  const names = showInstances([one.name, other.name]);
  return new DelayQueueError(
    'INVALID_OPTION',
    `connection: two instances of DelayQueueModule have the same connection and prefix (${names}), so each would handle messages of ` +
      'the other: give one another connection, or another prefix',
  );
}
