/** Prints what both versions of Redisson send to Redis, call by call: `npm run observe:redisson`. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { randomName } from '../../../../test/support/random-name.js';
import { startRedis } from '../../../../test/support/redis/start-redis.js';
import { REDISSON_LINES } from './java-build.js';
import { JavaPeer, type JavaQueue } from './java-peer.js';

const HOUR = 3_600_000;
/** The time to wait after a call, ms, for what its client does by itself. */
const SETTLE = 300;
const MAX_LENGTH = 100;

const server = await startRedis();
try {
  for (const line of REDISSON_LINES) await observe(line);
  for (const reader of REDISSON_LINES) {
    for (const writer of REDISSON_LINES) await observeReading(reader, writer);
  }
  await observeMixed();
} finally {
  await server.stop();
}

async function observe(line: (typeof REDISSON_LINES)[number]): Promise<void> {
  const java = await JavaPeer.start(line);
  console.log(`\n# Redisson ${await java.connect(server.url)}`);
  const redis = new Redis(server.url);
  const monitor = await redis.monitor();
  const seen: string[] = [];
  const scripts = new Map<string, string>();
  monitor.on('monitor', (_time: string, args: string[], source: string) => {
    seen.push(`${source === 'lua' ? '    lua ' : '  '}${args.map((arg) => shorten(arg, scripts)).join(' ')}`);
  });
  const queue: JavaQueue = { queue: 'n', codec: 'string' };
  const calls: [name: string, call: () => Promise<unknown>][] = [
    ['getDelayedQueue (its transfer task starts)', () => java.startTransfer(queue)],
    ['getDelayedQueue again', () => java.startTransfer(queue)],
    ['offer("a", 1 h): becomes the first', () => java.offer(queue, { value: 'a' }, HOUR)],
    ['offer("b", 2 h): not the first', () => java.offer(queue, { value: 'b' }, 2 * HOUR)],
    ['offer("c", 100 ms): the first, and soon due', () => java.offer(queue, { value: 'c' }, 100)],
    ['offer("d", 0)', () => java.offer(queue, { value: 'd' }, 0)],
    ['take', () => java.take(queue, 1000)],
    ['size', () => java.size(queue)],
    ['contains("b")', () => java.contains(queue, { value: 'b' })],
    ['readAll', () => java.readAll(queue)],
    ['peek', () => java.peek(queue)],
    ['remove("b")', () => java.remove(queue, { value: 'b' })],
    ['remove("no such")', () => java.remove(queue, { value: 'no such' })],
    ['poll', () => java.poll(queue)],
    ['consume: BLPOP', () => java.consume(queue)],
    ['stop consuming', () => java.stopConsuming(queue)],
    ['PUBLISH of text that is not a number', () => redis.publish('redisson_delay_queue_channel:{n}', 'soon')],
    ['PUBLISH of a number with a fraction', () => redis.publish('redisson_delay_queue_channel:{n}', '1.5')],
    ['PUBLISH of two numbers', () => redis.publish('redisson_delay_queue_channel:{n}', '1 2')],
    ['PUBLISH of the past', () => redis.publish('redisson_delay_queue_channel:{n}', '1')],
    ['offer("e", 600 ms)', () => java.offer(queue, { value: 'e' }, 600)],
    ['PUBLISH of a later time', () => redis.publish('redisson_delay_queue_channel:{n}', String(Date.now() + HOUR))],
    ['800 ms later', () => sleep(800)],
    ['destroy', () => java.stopTransfer(queue)],
    ['PUBLISH of the past', () => redis.publish('redisson_delay_queue_channel:{n}', '1')],
  ];
  for (const [name, call] of calls) {
    seen.length = 0;
    const result = await call();
    await sleep(SETTLE);
    console.log(`\n## ${name} → ${JSON.stringify(result) ?? 'nothing'}`);
    for (const command of seen) console.log(command);
    console.log(`  keys: ${(await redis.keys('*')).sort().join(', ') || 'none'}`);
  }
  console.log('\n## scripts');
  for (const [text, name] of scripts) console.log(`${name}: ${text}`);
  console.log(`\n## log\n${errors(java)}`);
  await java.end();
  monitor.disconnect();
  await redis.flushall();
  await redis.quit();
}

function shorten(arg: string, scripts: Map<string, string>): string {
  if (arg.includes('redis.call')) {
    if (!scripts.has(arg)) scripts.set(arg, `script-${scripts.size + 1}`);
    return scripts.get(arg)!;
  }
  const text = JSON.stringify(arg);
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
}

/** One line for each error, without stack traces. */
function errors(java: JavaPeer): string {
  const lines = java.log.split('\n').filter((line) => /^\d+ \[/.test(line));
  return lines.map((line) => `\n  ${line.slice(0, 200)}`).join('') || 'nothing';
}

/** Lets one version offer and another one read. */
async function observeReading(reader: (typeof REDISSON_LINES)[number], writer: typeof reader): Promise<void> {
  console.log(`\n# Redisson ${reader} reads what Redisson ${writer} wrote`);
  const [from, to] = [await JavaPeer.start(writer), await JavaPeer.start(reader)];
  await Promise.all([from.connect(server.url), to.connect(server.url)]);
  const redis = new Redis(server.url);
  const queue: JavaQueue = { queue: randomName('n'), codec: 'string' };
  await from.stopTransfer(queue);
  await to.stopTransfer(queue);
  for (const value of ['a', 'b', 'c']) await from.offer(queue, { value }, HOUR);
  const calls: [string, () => Promise<unknown>][] = [
    ['size', () => to.size(queue)],
    ['contains("b")', () => to.contains(queue, { value: 'b' })],
    ['readAll', () => to.readAll(queue)],
    ['peek', () => to.peek(queue)],
    ['remove("b")', () => to.remove(queue, { value: 'b' })],
    ['poll', () => to.poll(queue)],
  ];
  for (const [name, call] of calls) {
    console.log(
      `${name}: ${await call().then(JSON.stringify, (error: Error) => `${error.name}: ${error.message.slice(0, 200)}`)}`,
    );
  }
  const timeouts = `redisson_delay_queue_timeout:{${queue.queue}}`;
  const entries = await redis.zrangeBuffer(timeouts, '0', '-1');
  console.log(
    `left: ${entries.length} in the sorted set, ${await redis.llen(`redisson_delay_queue:{${queue.queue}}`)} in the list`,
  );
  for (const entry of entries) await redis.zadd(timeouts, 'XX', 1, entry);
  await to.startTransfer(queue);
  await sleep(2000);
  console.log(
    `after a transfer: ${await redis.zcard(timeouts)} in the sorted set, target: ${JSON.stringify(await redis.lrange(queue.queue, 0, -1))}`,
  );
  console.log(`log: ${errors(to)}`);
  await Promise.all([from.end(), to.end(), redis.quit()]);
}

/** Lets Redisson 4 transfer three due entries, the second of which it cannot read. */
async function observeMixed(): Promise<void> {
  console.log('\n# Redisson 4 transfers an entry of 3.20 between two of its own');
  const [old, current] = [await JavaPeer.start('3.20'), await JavaPeer.start('4')];
  await Promise.all([old.connect(server.url), current.connect(server.url)]);
  const redis = new Redis(server.url);
  const queue: JavaQueue = { queue: randomName('n'), codec: 'string' };
  await Promise.all([old.stopTransfer(queue), current.stopTransfer(queue)]);
  await current.offer(queue, { value: 'a' }, 0);
  await sleep(5);
  await old.offer(queue, { value: 'b' }, 0);
  await sleep(5);
  await current.offer(queue, { value: 'c' }, 0);
  await current.startTransfer(queue);
  for (let seconds = 1; seconds <= 12; seconds += 5) {
    await sleep(seconds === 1 ? 1000 : 5000);
    const [target, delayed, listed] = await Promise.all([
      redis.lrange(queue.queue, 0, -1),
      redis.zcard(`redisson_delay_queue_timeout:{${queue.queue}}`),
      redis.llen(`redisson_delay_queue:{${queue.queue}}`),
    ]);
    console.log(
      `after ${seconds} s: target ${JSON.stringify(target)}, ${delayed} in the sorted set, ${listed} in the list`,
    );
  }
  await Promise.all([old.end(), current.end(), redis.quit()]);
}
