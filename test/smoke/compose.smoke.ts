import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cp } from 'node:fs/promises';
import {
  DockerComposeEnvironment,
  getContainerRuntimeClient,
  type StartedDockerComposeEnvironment,
} from 'testcontainers';
import { readBlock, readDeploymentFile } from '../docs/deployment-files.js';
import { Application } from './application.js';
import { packPackage } from './packed-package.js';

const START_TIMEOUT = 230_000;

const hasDocker = await getContainerRuntimeClient().then(
  () => true,
  () => false,
);
// Written to stderr, because jest would add a stack trace.
if (!hasDocker) process.stderr.write('There is no Docker here, so docs/deployment/compose.yaml is NOT RUN.\n');

(hasDocker ? describe : describe.skip)('the compose file of the documentation, run by Docker', () => {
  let environment: StartedDockerComposeEnvironment;

  beforeAll(async () => {
    const app = await createDeployedApplication();
    environment = await new DockerComposeEnvironment(app.folder, 'compose.yaml')
      .withBuild()
      .withStartupTimeout(START_TIMEOUT)
      .up();
  });

  afterAll(async () => {
    await environment.down({ removeVolumes: true });
    await Application.removeAll();
  });

  it.each(['worker-1', 'worker-2'])('the Compose file starts %s, which reaches Redis', async (name) => {
    const ask = `fetch('http://127.0.0.1:3000/health').then(({ status }) => console.log(status))`;
    const { output } = await environment.getContainer(name).exec(['node', '-e', ask]);
    expect(output.trim()).toBe('200');
  });

  it('the Compose file starts a Redis that evicts nothing and appends to a file', async () => {
    const redis = environment.getContainer('redis-1');
    const read = async (setting: string) => (await redis.exec(['redis-cli', 'config', 'get', setting])).output;
    expect(await read('maxmemory-policy')).toContain('noeviction');
    expect(await read('appendonly')).toContain('yes');
  });

  it('a worker of the Compose file exits on its stop signal, well before it would be killed', async () => {
    const worker = environment.getContainer('worker-1');
    const from = performance.now();
    await worker.stop({ timeout: 30_000, remove: false });
    expect(performance.now() - from).toBeLessThan(20_000);
  });
});

/** Creates the folder that the page describes. */
async function createDeployedApplication(): Promise<Application> {
  const app = await Application.create();
  const packed = await packPackage();
  await cp(packed.tarball, app.path('package-under-test.tgz'));
  await packed.remove();
  await app.write('package.json', {
    private: true,
    type: 'module',
    scripts: { build: 'tsc' },
    dependencies: {
      '@nestjs/common': '^12.0.0',
      '@nestjs/core': '^12.0.0',
      '@nestjs/platform-express': '^12.0.0',
      '@nestjs/terminus': '^12.0.0',
      ioredis: '^6.0.0',
      'nestjs-delay-queue': 'file:package-under-test.tgz',
      'reflect-metadata': '^0.2.0',
      rxjs: '^7.8.0',
    },
    devDependencies: { '@types/node': '^22.0.0', typescript: '^6.0.0' },
  });
  await app.write('tsconfig.json', {
    compilerOptions: {
      target: 'es2022',
      module: 'nodenext',
      rootDir: 'src',
      outDir: 'dist',
      skipLibCheck: true,
      types: ['node'],
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
    },
    include: ['src'],
  });
  await app.write('src/main.ts', await readBlock('main.ts'));
  await app.write('compose.yaml', await readDeploymentFile('compose.yaml'));
  await app.write('.dockerignore', 'node_modules\ndist\n');
  // A published package is not in the folder.
  const dockerfile = await readDeploymentFile('Dockerfile');
  await app.write('Dockerfile', dockerfile.replace('COPY package*.json ./', 'COPY package*.json *.tgz ./'));
  await app.command('npm', ['install', '--package-lock-only', '--no-audit', '--no-fund', '--ignore-scripts']);
  return app;
}
