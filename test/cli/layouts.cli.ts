import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jsonLines, runCommand } from '../support/command-line.js';
import { randomName } from '../support/random-name.js';
import { startCluster } from '../support/redis/start-cluster.js';
import type { TestRedis } from '../support/redis/test-redis.js';
import { Scene } from '../support/scene.js';
import { startTestApp } from '../support/test-app.js';
import { redisson } from '../../packages/redisson/src/index.js';

const scene = new Scene();

describe('the command line', () => {
  it('reads a queue shared with Java, given the name that it has in Java', async () => {
    const [queue, redissonName] = [scene.newQueue(), randomName('{orders}')];
    const layout = { layout: redisson({ name: redissonName, codec: 'string' }) };
    const { producer } = await scene.startApp({ module: { consume: false, queues: { [queue]: layout } } });
    await producer.offer(queue, 'hello', '1h', { id: 'a' });
    const words = ['--layout', 'redisson', '--redisson-name', redissonName, '--codec', 'string', '--json'];
    const listed = await runCommand(scene, 'list', queue, 'delayed', ...words);
    expect(jsonLines(listed.output)).toMatchObject([{ id: 'a', payload: 'hello' }]);
    expect((await runCommand(scene, 'doctor', queue, ...words)).code).toBe(0);
    await producer.clear(queue);
    await scene.redis.unlink(`${scene.prefix}:{orders}@${queue}:sequence`);
  });
});

describe('the command line on a cluster', () => {
  const prefix = randomName('test');
  let server: TestRedis;

  beforeAll(async () => {
    server = await startCluster();
  });

  afterAll(() => server.stop());

  it('works with the URL of one node and --cluster', async () => {
    const nodes = [{ host: server.host, port: server.port }];
    const app = await startTestApp({ connection: { cluster: { nodes } }, prefix, consume: false });
    await app.producer.offer('orders', {}, '1h');
    await app.close();
    const url = `redis://${server.host}:${server.port}`;
    const counts = await runCommand({ url, prefix }, 'counts', '--cluster', '--json');
    expect(jsonLines(counts.output)).toMatchObject([{ queue: 'orders', delayed: 1 }]);
    const { code, problems } = await runCommand({ url, prefix }, 'doctor', 'orders', '--cluster');
    expect({ code, problems }).toEqual({ code: 0, problems: '' });
  });
});
