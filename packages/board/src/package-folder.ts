import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Returns the folder of this package. Its sources are also run as ES modules, which have no `__dirname`, but only in its own repository. */
export function packageFolder(): string {
  if (typeof __dirname === 'string') return dirname(__dirname);
  const { resolve } = createRequire(join(process.cwd(), 'package.json'));
  return dirname(resolve('nestjs-delay-queue-board/package.json'));
}
