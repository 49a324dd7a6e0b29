import { Inject, Injectable, type OnModuleInit, type ValueProvider } from '@nestjs/common';
import { ModuleRef, ModulesContainer } from '@nestjs/core';
import { INSTANCE } from '../handler/instance-names.js';
import { DelayQueueError } from '../message/delay-queue-errors.js';
import { UNNAMED } from '../message/instance-name.js';
import { instancesOf } from './instance.js';

/** Refuses a second instance of the same name: both would serve every handler, and either one's producer might be injected. */
@Injectable()
export class UniqueNames implements OnModuleInit {
  constructor(
    @Inject(INSTANCE) private readonly name: string,
    private readonly app: ModuleRef,
    private readonly modules: ModulesContainer,
  ) {}

  onModuleInit(): void {
    if (instancesOf(this.app).filter(({ name }) => name === this.name).length === 1) return;
    const metatypes = [...this.modules.values()].map(({ metatype }) => metatype);
    const importers = metatypes.filter((metatype) => this.#isImportedBy(metatype)).map(({ name }) => name);
    const places = importers.length > 0 ? ` (by ${importers.sort().join(', ')})` : '';
    const [what, advice] =
      this.name === UNNAMED
        ? ['DelayQueueModule', 'call forRoot() once, import it in the root module, and give each further one a name']
        : [`DelayQueueModule.forRoot({ name: '${this.name}' })`, 'call it once, or give each a name of its own'];
    throw new DelayQueueError(
      'INVALID_OPTION',
      `${what} is imported more than once${places}: ${advice}. It is global, so other modules need no import`,
    );
  }

  /** Reads the decorator, because at run time a global module is among the imports of all others. */
  #isImportedBy(metatype: object): boolean {
    const imports = Reflect.getMetadata('imports', metatype) as { readonly providers?: unknown }[] | undefined;
    return (imports ?? []).some(({ providers } = {}) => Array.isArray(providers) && providers.some(this.#isOwnName));
  }

  readonly #isOwnName = (provider: Partial<ValueProvider> | undefined) =>
    provider?.provide === INSTANCE && provider.useValue === this.name;
}
