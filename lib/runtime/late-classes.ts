import { Injectable, type OnModuleInit, type Type } from '@nestjs/common';
import { LazyModuleLoader, ModuleRef, ModulesContainer } from '@nestjs/core';
import { Events } from '../events/events.js';
import { declaredHandlers } from '../handler/delayed-handler-decorator.js';
import type { Module } from '../handler/nest-internals.js';

/**
 * Reports handlers and listeners in classes that Nest makes after startup, when the package no longer looks for them: in a lazily loaded
 * module, or with `moduleRef.create()`. Nest has no event for either, so the methods of its objects are wrapped.
 */
@Injectable()
export class LateClasses implements OnModuleInit {
  /** The modules that existed at startup or have been examined since. */
  readonly #known = new Set<Module>();
  readonly #finders = [handlersIn];

  constructor(
    private readonly loader: LazyModuleLoader,
    private readonly modules: ModulesContainer,
    private readonly app: ModuleRef,
    private readonly events: Events,
  ) {}

  /** @param finder - names what a class declares besides handlers */
  alsoFind(finder: (type: Type) => string[]): void {
    this.#finders.push(finder);
  }

  onModuleInit(): void {
    // One instance of the module listens on behalf of all.
    const [first] = this.app.get(LateClasses, { strict: false, each: true });
    if (first === this) this.#listen();
  }

  #listen(): void {
    for (const module of this.modules.values()) this.#follow(module);
    const load = this.loader.load.bind(this.loader);
    this.loader.load = async (...args) => {
      const loaded = await load(...args);
      for (const module of this.modules.values()) if (!this.#known.has(module)) this.#lookAt(module);
      return loaded;
    };
  }

  #follow(module: Module): void {
    this.#known.add(module);
    const moduleRef = module.getProviderByKey<ModuleRef>(ModuleRef).instance;
    const create = moduleRef.create.bind(moduleRef);
    moduleRef.create = (type, ...rest) => {
      if (!this.#isProvided(type)) this.#warn(this.#declaredIn(type), 'moduleRef.create()');
      return create(type, ...rest);
    };
  }

  #lookAt(module: Module): void {
    this.#follow(module);
    const hosts = [...module.providers.values(), ...module.controllers.values()];
    const methods = hosts.flatMap(({ metatype }) => this.#declaredIn(metatype));
    this.#warn(methods, `the lazily loaded ${module.name}`);
  }

  #isProvided(type: Type): boolean {
    return [...this.modules.values()].some(
      ({ providers, controllers }) => providers.has(type) || controllers.has(type),
    );
  }

  #declaredIn(type: unknown): string[] {
    if (typeof type !== 'function' || typeof type.prototype !== 'object') return [];
    return [...new Set(this.#finders.flatMap((find) => find(type as Type)))];
  }

  #warn(methods: readonly string[], by: string): void {
    if (methods.length > 0) this.events.note('made-late', { methods, by });
  }
}

function handlersIn(type: Type): string[] {
  return [...declaredHandlers.of(type.prototype as object)].map(([name]) => `${type.name}.${String(name)}`);
}
