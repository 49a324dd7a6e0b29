import type { OnApplicationBootstrap } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';

/**
 * Runs `start` when the last bootstrap hook of the application has ended.
 *
 * A global module's own `onApplicationBootstrap` comes first of all, long before a slow one of another module is done, and
 * no handler may run until then. Nest calls the hooks module by module, the farthest from the root first, and a module's
 * own class last; so the very last hook is that of the root module's class, and `start` is appended to it.
 */
export function afterBootstrap(modules: ModulesContainer, start: () => void): void {
  const root = [...modules.values()].reduce((nearest, module) =>
    module.distance <= nearest.distance ? module : nearest,
  );
  const instance = root.instance as Partial<OnApplicationBootstrap>;
  const ownHook = instance.onApplicationBootstrap?.bind(instance);
  instance.onApplicationBootstrap = async () => {
    await ownHook?.();
    start();
  };
}
