import { startRedis } from '/work/wt/pages/test/support/redis/start-redis.js';
import { SampleApp } from '/work/wt/pages/test/e2e/sample-app.process.js';
import { until } from '/work/wt/pages/test/support/until.js';
import { Redis } from 'ioredis';
const redis = process.argv[2] === 'memory' ? undefined : await startRedis();
const shop = await SampleApp.start({ ...(redis ? { REDIS_URL: redis.url } : {}), ...(process.env.PROF ? { NODE_OPTIONS: '--import /tmp/pages-profiler.mjs' } : {}) });
const page = await shop.listen();
const client = redis && new Redis(redis.url);
for (let i = 0; i < 6; i++) {
  const { body } = await shop.post('/orders/batch');
  await client?.config('RESETSTAT');
  const progress = () => (page.of('figures').at(-1)?.data as any)?.batch;
  await until(() => progress()?.id === body.id && progress().took !== null, { within: 20_000 });
  console.log(JSON.stringify(progress()));
}
const info = await client?.info('commandstats');
console.log(info?.split('\n').map((l) => /cmdstat_([^:]+):calls=(\d+),usec=(\d+)/.exec(l)?.slice(1).join(' ')).filter(Boolean).sort((a: any, b: any) => b.split(' ')[2] - a.split(' ')[2]).slice(0, 14).join('\n'));
page.close(); await shop.end(); client?.disconnect(); await redis?.stop();
