import { expect, it } from '@jest/globals';
import { jackson as configuredJackson, type JavaClasses } from '../../src/index.js';
import { wireCodecs } from '../wire-codecs.js';
import { randomName } from '../../../../test/support/random-name.js';
import { until } from '../../../../test/support/until.js';
import { readGolden } from './golden/golden.js';
import { describeWithJava } from './java-suite.js';
import type { JavaCodec, JavaValue } from './java-peer.js';

const { string, buffer, kryo5, json, jackson } = wireCodecs;

const TEXTS = ['a', 'hello', 'x'.repeat(33), 'x'.repeat(8191), 'é', '日本語', '😀', '\u0000', 'é'.repeat(8191)];

/** The classes as an application declares them; see `Samples.java`. */
const SAMPLE_CLASSES: JavaClasses = {
  'final peer.Samples$Status': ['NEW', 'PAID'],
  'peer.Samples$Address': { city: 'String', previous: 'peer.Samples$Address' },
  'peer.Samples$Order': {
    id: 'String',
    paid: 'boolean',
    items: 'int',
    number: 'long',
    boxed: 'Long',
    weight: 'double',
    total: 'BigDecimal',
    placed: 'Date',
    status: 'peer.Samples$Status',
    address: 'peer.Samples$Address',
    tags: 'List<String>',
    stops: 'List<peer.Samples$Address>',
    labels: 'String[]',
    quantities: 'int[]',
    seal: 'byte[]',
    counts: 'Map<String, Long>',
    anything: 'Object',
    nothing: 'String',
  },
};

/** A field, element or entry of a value that Java read. */
function part(value: JavaValue | null, ...path: (string | number)[]): JavaValue | null {
  let at = value;
  for (const key of path) at = (at!.value as Record<string, JavaValue | null>)[key] ?? null;
  return at;
}

describeWithJava('payloads', (suite) => {
  /** Pushes bytes to the target list, where Java takes them. */
  async function takenByJava(codec: JavaCodec, bytes: Buffer): Promise<JavaValue | null> {
    const queue = randomName('codec');
    await suite.redis.rpush(queue, bytes);
    return suite.java.take({ queue, codec }, 5000);
  }

  /** Lets Java offer and transfer a value, and takes its bytes. */
  async function writtenByJava(codec: JavaCodec, input: { value: unknown } | { sample: string }): Promise<Buffer> {
    const queue = randomName('codec');
    await suite.java.offer({ queue, codec }, input, 0);
    await until(() => suite.redis.exists(queue), { within: 20_000 });
    return (await suite.redis.lpopBuffer(queue))!;
  }

  it.each<[JavaCodec, { encode(payload: unknown): Buffer; decode(bytes: Buffer): unknown }]>([
    ['string', string],
    ['kryo5', kryo5],
    ['default', kryo5],
    ['json', json],
    ['jackson', jackson],
  ])('that are strings reach both Java and Node intact: codec %s', async (name, codec) => {
    for (const text of TEXTS) {
      expect(await takenByJava(name, codec.encode(text))).toEqual({ type: 'java.lang.String', value: text });
      const bytes = await writtenByJava(name, { value: text });
      expect(codec.decode(bytes)).toBe(text);
      expect(codec.encode(text)).toEqual(bytes);
    }
  });

  it('that are bytes reach both Java and Node intact', async () => {
    const bytes = Buffer.of(0, 1, 255);
    expect(await takenByJava('bytes', buffer.encode(bytes))).toEqual({ type: '[B', value: bytes.toString('base64') });
    expect(buffer.decode(await writtenByJava('bytes', { sample: 'byte[]' }))).toEqual(bytes);
  });

  it.each<['json' | 'jackson']>([['json'], ['jackson']])(
    'of null look like an empty queue to Java and are refused by Node: codec %s',
    async (name) => {
      const queue = randomName('codec');
      await suite.redis.rpush(queue, 'null');
      expect(await suite.java.take({ queue, codec: name }, 5000)).toBeNull();
      expect(await suite.redis.exists(queue)).toBe(0);
      expect(() => wireCodecs[name].encode(null)).toThrow(/empty queue/);
      expect(wireCodecs[name].decode(await writtenByJava(name, { value: null }))).toBeNull();
    },
  );

  it('that are plain JSON reach both Java and Node intact', async () => {
    const payload = { id: 7, great: 2n ** 60n, list: [0.5, true, null, 'é'], nested: { text: '😀' } };
    const value = await takenByJava('json', json.encode(payload));
    expect(part(value, 'id')).toEqual({ type: 'java.lang.Integer', value: '7' });
    expect(part(value, 'great')).toEqual({ type: 'java.lang.Long', value: String(2n ** 60n) });
    expect(part(value, 'list', 0)).toEqual({ type: 'java.lang.Double', value: '0.5' });
    expect(part(value, 'nested', 'text')).toEqual({ type: 'java.lang.String', value: '😀' });
    expect(json.decode(await writtenByJava('json', { sample: 'bean' }))).toMatchObject({
      number: 9007199254740993n,
      address: { city: 'Bern', previous: { city: 'Oslo' } },
      tags: ['new', 'gift'],
      placed: 1_700_000_000_123,
    });
  });

  it('made of plain JSON become the class that Java expects', async () => {
    const placed = new Date(1_700_000_000_123);
    const order = { id: 'o-1', number: 2n ** 60n, boxed: 5, placed, status: 'PAID', address: { city: 'Bern' } };
    const value = await takenByJava('json of Order', json.encode({ ...order, labels: ['a'], unknown: 1 }));
    expect(value).toMatchObject({ type: 'peer.Samples$Order' });
    expect(part(value, 'number')).toEqual({ type: 'java.lang.Long', value: String(2n ** 60n) });
    expect(part(value, 'placed')).toEqual({ type: 'java.util.Date', value: placed.toISOString() });
    expect(part(value, 'status')).toEqual({ type: 'peer.Samples$Status', value: 'PAID' });
    expect(part(value, 'address', 'city')).toEqual({ type: 'java.lang.String', value: 'Bern' });
    expect(part(value, 'labels')?.type).toBe('[Ljava.lang.String;');
    expect(json.decode(await writtenByJava('json of Order', { sample: 'bean' }))).toMatchObject({ id: 'o-1' });
  });

  it('with type wrappers have the expected types in Java', async () => {
    const payload = {
      int: 5,
      long: 2147483648,
      bigint: 5n,
      huge: 2n ** 70n,
      double: 0.5,
      date: new Date(5),
      bytes: Buffer.of(0, 1, 255),
      list: ['java.lang.Long', 5],
      map: JSON.parse('{"a":null,"__proto__":[]}') as unknown,
    };
    const value = await takenByJava('jackson', jackson.encode(payload));
    expect(value?.type).toBe('java.util.LinkedHashMap');
    expect(part(value, 'int')).toEqual({ type: 'java.lang.Integer', value: '5' });
    expect(part(value, 'long')).toEqual({ type: 'java.lang.Long', value: '2147483648' });
    expect(part(value, 'bigint')).toEqual({ type: 'java.lang.Long', value: '5' });
    expect(part(value, 'huge')).toEqual({ type: 'java.math.BigInteger', value: String(2n ** 70n) });
    expect(part(value, 'double')).toEqual({ type: 'java.lang.Double', value: '0.5' });
    expect(part(value, 'date')).toEqual({ type: 'java.util.Date', value: '1970-01-01T00:00:00.005Z' });
    expect(part(value, 'bytes')).toEqual({ type: '[B', value: 'AAH/' });
    expect(part(value, 'list')?.type).toBe('java.util.ArrayList');
    expect(part(value, 'list', 0)).toEqual({ type: 'java.lang.String', value: 'java.lang.Long' });
    expect(part(value, 'map', '__proto__')?.type).toBe('java.util.ArrayList');
  });

  it.each([5, 2147483648, 5n, 0.5, true, [1], {}, new Date(5), Buffer.of(1)])(
    'with type wrappers may consist of a bare %p',
    async (payload) => {
      const value = await takenByJava('jackson', jackson.encode(payload));
      expect(value?.type).toMatch(
        /^(java\.(lang\.(Integer|Long|Double|Boolean)|util\.(ArrayList|LinkedHashMap|Date))|\[B)$/,
      );
    },
  );

  it('with an @class become instances of that class in Java', async () => {
    const order = {
      '@class': 'peer.Samples$Order',
      id: 'o-1',
      paid: true,
      items: 3,
      number: 2147483648,
      boxed: 5,
      weight: 0.5,
      total: '12.50',
      labels: ['a', 'b'],
      quantities: [1, 2],
      placed: new Date(5),
      status: 'PAID',
      address: { '@class': 'peer.Samples$Address', city: 'Bern' },
      tags: ['new'],
      stops: [{ '@class': 'peer.Samples$Address', city: 'Kyiv' }],
      seal: Buffer.of(0, 1, 255),
      counts: { clicks: 5n },
      anything: { a: [5n] },
      nothing: null,
    };
    const declared = configuredJackson({ classes: SAMPLE_CLASSES });
    const value = await takenByJava('jackson', declared.encode(order));
    expect(value?.type).toBe('peer.Samples$Order');
    expect(part(value, 'total')).toEqual({ type: 'java.math.BigDecimal', value: '12.50' });
    expect(part(value, 'labels')?.type).toBe('[Ljava.lang.String;');
    expect(part(value, 'quantities', 1)).toEqual({ type: 'java.lang.Integer', value: '2' });
    expect(part(value, 'number')).toEqual({ type: 'java.lang.Long', value: '2147483648' });
    expect(part(value, 'boxed')).toEqual({ type: 'java.lang.Long', value: '5' });
    expect(part(value, 'placed')?.type).toBe('java.util.Date');
    expect(part(value, 'status')).toEqual({ type: 'peer.Samples$Status', value: 'PAID' });
    expect(part(value, 'address', 'city')?.value).toBe('Bern');
    expect(part(value, 'tags', 0)).toEqual({ type: 'java.lang.String', value: 'new' });
    expect(part(value, 'stops', 0)?.type).toBe('peer.Samples$Address');
    expect(part(value, 'seal')).toEqual({ type: '[B', value: 'AAH/' });
    expect(part(value, 'counts', 'clicks')).toEqual({ type: 'java.lang.Long', value: '5' });
    expect(part(value, 'anything', 'a', 0)).toEqual({ type: 'java.lang.Long', value: '5' });
    expect(part(value, 'nothing')).toBeNull();
  });

  it('with an @class carry a primitive long beyond 2⁵³', async () => {
    const declared = configuredJackson({ classes: SAMPLE_CLASSES });
    const bytes = declared.encode({
      '@class': 'peer.Samples$Order',
      paid: false,
      items: 0,
      weight: 0,
      number: 2n ** 60n,
    });
    const value = await takenByJava('jackson', bytes);
    expect(part(value, 'number')).toEqual({ type: 'java.lang.Long', value: String(2n ** 60n) });
  });

  it('written by Java still match the golden bytes', async () => {
    for (const [codec, payloads] of Object.entries(readGolden(suite.line).payloads)) {
      for (const { input, bytes } of payloads) {
        if (!('text' in bytes) || 'times' in input) continue;
        const written = await suite.java.encode(codec as JavaCodec, input);
        expect({ input, text: written.toString() }).toEqual({ input, text: bytes.text });
      }
    }
  });

  it.each(['string', 'kryo5', 'json', 'jackson'] as const)(
    'are found and removed by Java, which compares bytes: codec %s',
    async (codec) => {
      const { java, redis } = suite;
      for (const value of ['hello', '😀', 'x'.repeat(70)]) {
        const at = { queue: randomName('codec'), codec };
        await java.stopTransfer(at);
        await java.offer(at, { value: 'another' }, 3_600_000);
        const [entry] = await redis.lrangeBuffer(`redisson_delay_queue:{${at.queue}}`, 0, 0);
        const bytes = wireCodecs[codec].encode(value);
        const length = Buffer.alloc(8);
        length.writeBigUInt64LE(BigInt(bytes.length));
        const ours = Buffer.concat([entry!.subarray(0, suite.line === '4' ? 9 : 8), length, bytes]);
        await redis.rpush(`redisson_delay_queue:{${at.queue}}`, ours);
        await redis.zadd(`redisson_delay_queue_timeout:{${at.queue}}`, Date.now() + 3_600_000, ours);
        expect(await java.contains(at, { value })).toBe(true);
        expect(await java.remove(at, { value })).toBe(true);
        expect(await java.contains(at, { value })).toBe(false);
        expect(await java.size(at)).toBe(1);
      }
    },
  );
});
