import { join } from 'node:path';
import { Application } from './application.js';
import { PROJECT } from './packed-package.js';
import { STRICTEST } from './strictest.js';

const TSCONFIG = {
  compilerOptions: {
    ...STRICTEST,
    module: 'nodenext',
    rootDir: '.',
    outDir: 'dist',
  },
  include: ['consumer.ts', 'enhancers.ts', 'traces.ts'],
};

/** How an application is set up. */
export interface ConsumerOptions {
  readonly type: 'module' | 'commonjs';
  readonly dependencies: Readonly<Record<string, string>>;
}

/** A small application with packages installed from their tarballs, type-checked and compiled. */
export async function createConsumer(tarballs: readonly string[], options: ConsumerOptions): Promise<Application> {
  const { type, dependencies } = options;
  const app = await Application.create();
  await app.write('package.json', { private: true, type, dependencies });
  await app.write('tsconfig.json', TSCONFIG);
  await app.add('consumer.ts', 'consumer.ts');
  await app.add('enhancers.ts', 'enhancers.ts');
  await app.add('traces.ts', 'traces.ts');
  await app.add('both-formats', 'both-formats');
  await app.install(...tarballs);
  await app.command(process.execPath, [join(PROJECT, 'node_modules/typescript/bin/tsc')]);
  return app;
}
