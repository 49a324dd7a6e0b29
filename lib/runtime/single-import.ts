import type { DynamicModule, OnModuleInit, Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { DelayQueueError } from '../message/delay-queue-errors.js';

/** Refuses a second import of the module: both would serve every handler, and either one's producer might be injected. */
export class SingleImport implements OnModuleInit {
  constructor(
    private readonly module: Type,
    private readonly modules: ModulesContainer,
  ) {}

  onModuleInit(): void {
    const metatypes = [...this.modules.values()].map(({ metatype }) => metatype);
    if (metatypes.filter((metatype) => metatype === this.module).length === 1) return;
    const importers = metatypes.filter((metatype) => this.#isImportedBy(metatype)).map(({ name }) => name);
    const places = importers.length > 0 ? ` (by ${importers.sort().join(', ')})` : '';
    throw new DelayQueueError(
      'INVALID_OPTION',
      `DelayQueueModule is imported more than once${places}: call forRoot() once and import it in the root module. ` +
        'It is global, so other modules need no import',
    );
  }

  /** Reads the decorator, because at run time a global module is among the imports of all others. */
  #isImportedBy(metatype: object): boolean {
    const imports: unknown = Reflect.getMetadata('imports', metatype);
    return (
      Array.isArray(imports) &&
      imports.some((imported: Partial<DynamicModule> | undefined) => imported?.module === this.module)
    );
  }
}
