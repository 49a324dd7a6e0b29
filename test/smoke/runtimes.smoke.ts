import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomName } from '../support/random-name.js';
import { sharedRedisUrl } from '../support/redis/shared-redis.js';
import { Application } from './application.js';
import { createConsumer, NEWEST } from './consumer-application.js';
import { ENHANCED, HANDLED } from './expected.js';
import { packPackage } from './packed-package.js';
import { type Runtime, RUNTIMES } from './runtimes.js';

// Far more than needed; an application that has not exited by then is killed and fails.
const RUN_TIMEOUT = 20_000;

describe.each(['module', 'commonjs'] as const)('the packed package in an application of type %s', (type) => {
  let app: Application;

  beforeAll(async () => {
    const [packed, redisson] = await Promise.all([packPackage(), packPackage('redisson')]);
    app = await createConsumer([packed.tarball, redisson.tarball], { type, dependencies: NEWEST });
    await Promise.all([packed.remove(), redisson.remove()]);
    await app.install(...RUNTIMES.map(({ package: name, version }) => `${name}@${version}`));
  });

  afterAll(() => Application.removeAll());

  it.each(RUNTIMES)('handles a delayed message on $name and lets the process end', async (runtime) => {
    expect(await run('dist/consumer.js', runtime)).toEqual(HANDLED);
  });

  it.each(RUNTIMES)('runs enhancers around handlers on $name', async (runtime) => {
    expect(await run('dist/enhancers.js', runtime)).toEqual(ENHANCED);
  });

  /** Runs a program to its end, with a queue of its own, and returns its output. */
  async function run(program: string, { package: name, binary, args }: Runtime): Promise<unknown> {
    const env = { REDIS_URL: sharedRedisUrl(), QUEUE: randomName('smoke') };
    const command = [...args, app.path(program)];
    const options = { env, timeout: RUN_TIMEOUT };
    return JSON.parse(await app.command(app.path('node_modules', name, binary), command, options));
  }
});
