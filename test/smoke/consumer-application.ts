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

/** Nest and ioredis as they are now. */
export const NEWEST: ConsumerOptions['dependencies'] = {
  '@nestjs/common': '^12.0.0',
  '@nestjs/core': '^12.0.0',
  '@opentelemetry/api': '^1.9.0',
  '@opentelemetry/context-async-hooks': '^2.0.0',
  '@opentelemetry/core': '^2.0.0',
  '@opentelemetry/sdk-trace-base': '^2.0.0',
  '@types/node': '^20.19.0',
  ioredis: '^6.0.0',
  'reflect-metadata': '^0.2.0',
  rxjs: '^7.8.0',
};

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
