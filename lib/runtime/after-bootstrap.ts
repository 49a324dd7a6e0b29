import type { OnApplicationBootstrap } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';

/**
 * Runs `start` after the last bootstrap hook of the application. The start-up of the application waits for it, and fails if it does.
 *
 * No handler may run until every module is up. Nest calls a global module's own `onApplicationBootstrap` first, long before a
 * slow one of another module has ended. It calls the hooks module by module, the farthest from the root first, and within a
 * module its class last. So the very last hook is that of the root module's class, and `start` is appended to it.
 */
export function afterBootstrap(modules: ModulesContainer, start: () => Promise<void>): void {
  const root = [...modules.values()].reduce((nearest, module) =>
    module.distance <= nearest.distance ? module : nearest,
  );
  const instance = root.instance as Partial<OnApplicationBootstrap>;
  const ownHook = instance.onApplicationBootstrap?.bind(instance);
  instance.onApplicationBootstrap = async () => {
    await ownHook?.();
    await start();
  };
}
