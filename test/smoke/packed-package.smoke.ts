import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { directoryKeys } from '../../lib/store/native/native-directory.js';
import { randomName } from '../support/random-name.js';
import { sharedRedisUrl } from '../support/redis/shared-redis.js';
import { Application } from './application.js';
import { type ConsumerOptions, createConsumer, NEWEST } from './consumer-application.js';
import { ENHANCED, HANDLED, LOADED, NO_MESSAGES, ONE_COPY, TRACED } from './expected.js';
import { NODE_VERSIONS, NodeVersions } from './node-versions.js';
import { packPackage, type PackedPackage, PROJECT } from './packed-package.js';

/** The lower ends of the peer ranges. */
const OLDEST: ConsumerOptions['dependencies'] = {
  '@nestjs/common': '11.0.0',
  '@nestjs/core': '11.0.0',
  '@opentelemetry/api': '1.3.0',
  '@opentelemetry/context-async-hooks': '1.8.0',
  '@opentelemetry/core': '1.8.0',
  '@opentelemetry/sdk-trace-base': '1.8.0',
  '@types/node': '^20.19.0',
  ioredis: '5.4.0',
  'reflect-metadata': '0.1.13',
  // Earlier versions have no declarations that `nodenext` finds.
  rxjs: '7.5.7',
};

/** The fields of a published manifest. */
const FIELDS = [
  ...['bugs', 'dependencies', 'description', 'engines', 'exports', 'files', 'homepage', 'keywords', 'license'],
  ...[
    'main',
    'name',
    'peerDependencies',
    'peerDependenciesMeta',
    'repository',
    'schematics',
    'type',
    'types',
    'typesVersions',
    'version',
  ],
];

interface SourceMap {
  readonly sources: readonly string[];
  readonly sourcesContent: readonly string[];
}

let packed: PackedPackage;
let commandLine: PackedPackage;
let redisson: PackedPackage;
let nodes: NodeVersions;

beforeAll(async () => {
  [packed, commandLine, redisson, nodes] = await Promise.all([
    packPackage(),
    packPackage('cli'),
    packPackage('redisson'),
    NodeVersions.fetch(),
  ]);
});

afterAll(() => Promise.all([packed.remove(), commandLine.remove(), redisson.remove(), Application.removeAll()]));

describe('the packed package', () => {
  it('contains the built library in both formats and no other project files', () => {
    const foreign = packed.files.filter((path) => !/^(dist\/lib|schematics)\//.test(path));
    expect(foreign.sort()).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json']);
    expect(packed.files).toContain('schematics/collection.json');
    for (const format of ['cjs', 'esm']) {
      expect(packed.files).toContain(`dist/lib/${format}/index.js`);
      expect(packed.files).toContain(`dist/lib/${format}/index.d.ts`);
    }
  });

  it('has no manifest entry that only the project needs', async () => {
    const manifest = JSON.parse(await readFile(packed.built('package.json'), 'utf8')) as object;
    expect(Object.keys(manifest).sort()).toEqual(FIELDS);
  });

  it('does not read its own files, which a bundle would leave behind', async () => {
    expect(packed.files.filter((path) => path.endsWith('.lua'))).toEqual([]);
    expect(await readsFiles(packed)).toEqual([]);
  });

  it('has source maps that contain the sources', async () => {
    const map = JSON.parse(await readFile(packed.built('dist/lib/cjs/core.js.map'), 'utf8')) as SourceMap;
    const at = map.sources.findIndex((path) => path.endsWith('lib/consumer/transfer-scheduler.ts'));
    expect(map.sourcesContent[at]).toBe(await readFile('lib/consumer/transfer-scheduler.ts', 'utf8'));
    const code = await readFile(packed.built('dist/lib/cjs/core.js'), 'utf8');
    expect(code.trimEnd()).toMatch(/\n\/\/# sourceMappingURL=core\.js\.map$/);
  });

  it('contains a licence for its bundled dependencies', async () => {
    expect(await readFile(packed.built('dist/lib/cjs/zod.js'), 'utf8')).toContain('Colin McDonnell');
  });
});

/** The files of a package with code that looks for other files. */
async function readsFiles({ files, built }: PackedPackage): Promise<string[]> {
  const programs = files.filter((path) => path.endsWith('.js'));
  const texts = await Promise.all(programs.map((path) => readFile(built(path), 'utf8')));
  return programs.filter((_, i) => /import\.meta|\bnode:fs|__dirname|__filename/.test(texts[i]!));
}

describe('the packed Redisson layout', () => {
  it('contains the built package in both formats, with inlined scripts, and no other project files', async () => {
    const foreign = redisson.files.filter((path) => !/^dist\/(cjs|esm)\/.*\.(js|d\.ts|map|json)$/.test(path));
    expect(foreign.sort()).toEqual(['LICENSE', 'README.md', 'package.json']);
    expect(await readsFiles(redisson)).toEqual([]);
    expect(await readFile(redisson.built('dist/cjs/index.js'), 'utf8')).toContain('redisson_delay_queue');
  });
});

describe('the packed command line', () => {
  it('contains the program and no other project files', () => {
    const foreign = commandLine.files.filter((path) => !/^dist\/.*\.js$/.test(path));
    expect(foreign.sort()).toEqual(['LICENSE', 'README.md', 'package.json']);
    expect(commandLine.files).toContain('dist/main.js');
  });
});

describe.each([
  { name: 'an ES module with the newest Nest and ioredis', type: 'module', dependencies: NEWEST },
  { name: 'a CommonJS module with the newest Nest and ioredis', type: 'commonjs', dependencies: NEWEST },
  { name: 'an ES module with the oldest Nest and ioredis', type: 'module', dependencies: OLDEST },
  { name: 'a CommonJS module with the oldest Nest and ioredis', type: 'commonjs', dependencies: OLDEST },
] as const)('the packed package in $name', (options) => {
  let app: Application;

  beforeAll(async () => {
    app = await createConsumer([packed.tarball, commandLine.tarball, redisson.tarball], options);
  });

  it('handles a delayed message and lets the process end', async () => {
    expect(await app.run('dist/consumer.js')).toEqual(HANDLED);
  });

  it('runs guards, interceptors, pipes and filters around handlers, with request-scoped instances per message', async () => {
    expect(await app.run('dist/enhancers.js')).toEqual(ENHANCED);
  });

  it('traces a message from the request that offers it to its handler', async () => {
    expect(await app.run('dist/traces.js')).toEqual(TRACED);
  });

  it('type-checks with TypeScript 7, declarations too', async () => {
    const compiler = join(PROJECT, 'node_modules/typescript-native/bin/tsc');
    expect(await app.command(process.execPath, [compiler, '--noEmit'])).toBe('');
  });

  it('loads no unused modules', async () => {
    expect(await app.run('both-formats/loaded.mjs')).toEqual(LOADED);
  });

  it('works with its command line', async () => {
    const env = { REDIS_URL: sharedRedisUrl() };
    const words = ['counts', 'orders', '--json', '--prefix', await prefixWithOrders()];
    expect(JSON.parse(await app.command('nestjs-delay-queue-cli', words, { env }))).toMatchObject(NO_MESSAGES);
  });

  it.each(NODE_VERSIONS)(
    'handles a message on Node.js %s, is one copy in both formats, and works with its command line',
    async (version) => {
      const node = nodes.binary(version);
      if (node === undefined) return;
      expect(await app.run('dist/consumer.js', node)).toEqual(HANDLED);
      expect(await app.run('both-formats/main.mjs', node)).toEqual(ONE_COPY);
      const program = 'node_modules/nestjs-delay-queue-cli/dist/main.js';
      const words = ['counts', 'orders', '--json', '--prefix', await prefixWithOrders()];
      expect(await app.run(program, node, words)).toMatchObject(NO_MESSAGES);
    },
  );
});

/** A prefix under which the queue `orders` is known, and empty. */
async function prefixWithOrders(): Promise<string> {
  const prefix = randomName('smoke');
  const redis = new Redis(sharedRedisUrl());
  await redis.zadd(directoryKeys(prefix).names, 0, 'orders');
  redis.disconnect();
  return prefix;
}
