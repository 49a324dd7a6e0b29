/** Rewrites the golden bytes of all versions of Redisson: `npm run golden:redisson`. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { isUtf8 } from 'node:buffer';
import { Redis } from 'ioredis';
import { format, resolveConfig } from 'prettier';
import { randomName } from '../../../../../test/support/random-name.js';
import { startRedis } from '../../../../../test/support/redis/start-redis.js';
import { until } from '../../../../../test/support/until.js';
import { fixtureCodecsOf } from '../fixture-codecs.js';
import { CODEC_LINES, REDISSON_LINES } from '../java-build.js';
import { JavaError, JavaPeer, type JavaInput } from '../java-peer.js';
import {
  type Golden,
  GOLDEN_FIXTURES,
  GOLDEN_KRYO_FIXTURES,
  type GoldenBytes,
  type GoldenCodec,
  type GoldenFixture,
  type GoldenKryoFixture,
  goldenFile,
  type GoldenInput,
  type GoldenOffer,
  type GoldenPayload,
} from './golden.js';
import { CODECS_OF_SAMPLES, GOLDEN_INPUTS, GOLDEN_OFFERS } from './golden-inputs.js';

const LONG = 1000;
const DELAY = 3_600_000;

const server = await startRedis();
try {
  for (const line of REDISSON_LINES) {
    const peer = await JavaPeer.start(line);
    const golden = await record(peer, server.url);
    await peer.end();
    await write(goldenFile(line), golden);
    console.log(`Redisson ${golden.redisson}: ${goldenFile(line)}`);
  }
  await write(GOLDEN_FIXTURES, await recordFixtures());
  await write(GOLDEN_KRYO_FIXTURES, await recordKryoFixtures());
} finally {
  await server.stop();
}

async function write(file: string, golden: unknown): Promise<void> {
  const options = await resolveConfig(file);
  writeFileSync(file, await format(JSON.stringify(golden), { ...options, filepath: file }));
}

/** Records the bytes of all lines, once for those that write the same. */
async function recordFixtures(): Promise<GoldenFixture[]> {
  const recorded = new Map<string, GoldenFixture>();
  for (const line of CODEC_LINES) {
    const peer = await JavaPeer.start(line);
    for (const codec of fixtureCodecsOf(line)) {
      for (const fixture of await peer.fixtures()) {
        const text = (await peer.encodeFixture(codec, fixture)).toString();
        const golden = recorded.get(`${codec} ${text}`) ?? { codec, fixture, lines: [], text };
        recorded.set(`${codec} ${text}`, { ...golden, lines: [...golden.lines, line] });
      }
    }
    await peer.end();
  }
  return [...recorded.values()];
}

async function recordKryoFixtures(): Promise<GoldenKryoFixture[]> {
  const recorded = new Map<string, GoldenKryoFixture>();
  for (const line of CODEC_LINES) {
    const peer = await JavaPeer.start(line);
    for (const fixture of [...(await peer.fixtures()), ...(await peer.kryoFixtures())]) {
      const hex = await writtenByKryo(peer, fixture);
      const golden = recorded.get(`${fixture} ${hex}`) ?? { fixture, lines: [], hex };
      recorded.set(`${fixture} ${hex}`, { ...golden, lines: [...golden.lines, line] });
    }
    await peer.end();
  }
  return [...recorded.values()];
}

async function writtenByKryo(peer: JavaPeer, fixture: string): Promise<string | null> {
  try {
    return (await peer.encodeFixture('kryo5', fixture)).toString('hex');
  } catch (error) {
    if (error instanceof JavaError) return null;
    throw error;
  }
}

async function record(peer: JavaPeer, url: string): Promise<Golden> {
  const redisson = await peer.connect(url);
  const samples = (await peer.samples()).map((sample) => ({ sample }));
  const payloads: Partial<Record<GoldenCodec, GoldenPayload[]>> = {};
  for (const [codec, inputs] of Object.entries(GOLDEN_INPUTS) as [GoldenCodec, GoldenInput[]][]) {
    const all = CODECS_OF_SAMPLES.includes(codec) ? [...inputs, ...samples] : inputs;
    payloads[codec] = [];
    for (const input of all) payloads[codec].push({ input, bytes: await written(peer, codec, input) });
  }
  const offers: GoldenOffer[] = [];
  for (const { codec, value } of GOLDEN_OFFERS) offers.push(await offered({ peer, url, codec, value }));
  return { redisson, payloads: payloads as Golden['payloads'], offers };
}

async function written(peer: JavaPeer, codec: GoldenCodec, input: GoldenInput): Promise<GoldenBytes> {
  try {
    return readable(await peer.encode(codec, inputOf(input)));
  } catch (error) {
    if (!(error instanceof JavaError)) throw error;
    return { refused: error.name };
  }
}

function inputOf(input: GoldenInput): JavaInput {
  if ('sample' in input || input.times === undefined) return input;
  return { value: String(input.value).repeat(input.times) };
}

function readable(bytes: Buffer): GoldenBytes {
  if (bytes.length > LONG) {
    return { sha256: createHash('sha256').update(bytes).digest('hex'), length: bytes.length };
  }
  const text = bytes.toString();
  return isUtf8(bytes) && !/\p{Cc}/u.test(text) ? { text } : { hex: bytes.toString('hex') };
}

/** Stops the transfer task until the entry has been read, then sets the entry's due time to the past. */
async function offered(from: {
  peer: JavaPeer;
  url: string;
  codec: GoldenCodec;
  value: unknown;
}): Promise<GoldenOffer> {
  const { peer, url, codec, value } = from;
  const queue = randomName('golden');
  const [commands, subscriber] = [new Redis(url), new Redis(url)];
  await peer.stopTransfer({ queue, codec });
  await subscriber.subscribe(`redisson_delay_queue_channel:{${queue}}`);
  const published = once(subscriber, 'message') as Promise<[channel: string, text: string]>;
  await peer.offer({ queue, codec }, { value }, DELAY);

  const timeouts = `redisson_delay_queue_timeout:{${queue}}`;
  const [entry, score] = await commands.zrangeBuffer(timeouts, '0', '-1', 'WITHSCORES');
  const [listed] = await commands.lrangeBuffer(`redisson_delay_queue:{${queue}}`, 0, -1);
  const [, text] = await published;

  await commands.zadd(timeouts, 'XX', 1, entry!);
  await peer.startTransfer({ queue, codec });
  await until(() => commands.exists(queue));
  const [target] = await commands.lrangeBuffer(queue, 0, -1);
  await Promise.all([commands.quit(), subscriber.quit()]);
  const hex = (bytes: Buffer | undefined) => bytes!.toString('hex');
  return {
    codec,
    value,
    entry: hex(entry),
    score: String(score),
    listed: hex(listed),
    published: text,
    target: hex(target),
  };
}
