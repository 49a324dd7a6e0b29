import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomName } from '../support/random-name.js';
import { sharedRedisUrl } from '../support/redis/shared-redis.js';
import { ConsumerApp, type ConsumerOptions } from './consumer-app.js';
import { packPackage, type PackedPackage } from './packed-package.js';

const INSTALL_TIMEOUT = 180_000;
const COMPILE_TIMEOUT = 60_000;
const RUN_TIMEOUT = 30_000;

const NEWEST: ConsumerOptions = {
  type: 'module',
  dependencies: {
    '@nestjs/common': '^12.0.0',
    '@nestjs/core': '^12.0.0',
    '@types/node': '^20.19.0',
    ioredis: '^6.0.0',
    'reflect-metadata': '^0.2.0',
    rxjs: '^7.8.0',
  },
};

/** The lower ends of the peer ranges. */
const OLDEST: ConsumerOptions = {
  type: 'commonjs',
  dependencies: {
    '@nestjs/common': '11.0.0',
    '@nestjs/core': '11.0.0',
    '@types/node': '^20.19.0',
    ioredis: '5.4.0',
    'reflect-metadata': '0.1.13',
    // Earlier ones have no declarations that `nodenext` finds.
    rxjs: '7.5.7',
  },
};

let packed: PackedPackage;

beforeAll(async () => {
  packed = await packPackage();
});

afterAll(() => packed.remove());

describe('The packed package', () => {
  it('holds the built library with its scripts, and nothing of the project around it', () => {
    const foreign = packed.files.filter((path) => !path.startsWith('dist/lib/'));
    expect(foreign.sort()).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json']);
    expect(packed.files).toContain('dist/lib/index.js');
    expect(packed.files).toContain('dist/lib/index.d.ts');
    expect(packed.files).toContain('dist/lib/store/native/lua/transfer.lua');
  });
});

describe.each([
  { name: 'an ES module on the newest Nest and ioredis', options: NEWEST },
  { name: 'a CommonJS module on the oldest Nest and ioredis', options: OLDEST },
])('In $name, the packed package', ({ options }) => {
  let app: ConsumerApp;

  beforeAll(async () => {
    app = await ConsumerApp.install(packed.tarball, options);
  }, INSTALL_TIMEOUT);

  afterAll(() => app.remove());

  it(
    'type-checks, handles a delayed message, and lets the process end',
    async () => {
      await app.compile();
      const said = await app.run({ REDIS_URL: sharedRedisUrl(), QUEUE: randomName('smoke') });
      expect(said).toEqual({ same: true, payload: { orderId: 7 }, onTime: true });
    },
    COMPILE_TIMEOUT + RUN_TIMEOUT,
  );
});
