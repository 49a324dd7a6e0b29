import { createDecipheriv, createHmac, webcrypto } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { EncryptedPayload } from '../../lib/index.js';
import { encryption, encryptionWith } from '../../lib/encryption/encryption.js';
import type { EncryptionOptions } from '../../lib/encryption/index.js';
import { UnknownBodyForm, wrapPutOff } from '../../lib/message/codec/body-forms.js';
import { encodeBody, type MessageContent, readContent } from '../../lib/message/codec/message-codec.js';
import { nativeCodec } from '../../lib/message/codec/native-codec.js';
import type { Encryption } from '../../lib/message/encryption.js';

const [K1, K2] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const SECRET = { card: '4111 1111 1111 1111' };
const CONTENT: MessageContent = { type: 'charge', payload: SECRET, headers: { tenant: 'acme' } };

const codecOf = (options: EncryptionOptions) => (encryption(options) as Encryption).codec;
const codec = codecOf({ current: 'k1', keys: { k1: K1 } });
const bodyOf = (content: Partial<MessageContent> = {}, by = codec) =>
  Buffer.from(by.encode({ ...CONTENT, ...content }) as string);

const putOff = (body: Buffer) => wrapPutOff(body, 5);

/** As the documentation has it. */
function nameOf(id: string, key: Buffer): string {
  return `${id}:${createHmac('sha256', key).update('nestjs-delay-queue:key').digest('hex').slice(0, 8)}`;
}

/** Finds the first byte of the nonce. */
function startOfBytes(body: Buffer): number {
  return body.indexOf('\nCcharge\n') + '\nCcharge\n'.length;
}

describe('an encrypted body', () => {
  it('shows the key and the type, and neither the payload nor the headers', () => {
    const body = bodyOf();
    const start = startOfBytes(body);
    expect(body.toString('latin1', 0, start)).toBe(`Nencrypted\n${nameOf('k1', K1)}\nCcharge\n`);
    for (const secret of ['4111', 'card', 'tenant', 'acme']) expect(body.includes(secret)).toBe(false);
    // Nonce, a kind, the headers, a line feed, the payload, and the tag.
    const text = `j${JSON.stringify(CONTENT.headers)}\n${JSON.stringify(SECRET)}`;
    expect(body.length - start).toBe(12 + text.length + 16);
  });

  it('keeps the group, the rule and the expiry where scripts read them', () => {
    const repeat = { cron: '0 9 * * *', timeZone: 'UTC', missed: 'once' } as const;
    const content = { ...CONTENT, group: 'acme', repeat, expiry: { after: 1000, onExpired: undefined } };
    const body = bodyOf(content);
    expect(body.toString('latin1')).toMatch(/^Ngroup\nacme\nNrepeat\n\{.*\}\nNexpires\n1000\nNencrypted\n/);
    expect(codec.decode(body)).toEqual(content);
    expect(codec.decode(putOff(body))).toEqual(content);
  });

  it.each<[string, Partial<MessageContent>]>([
    ['JSON', {}],
    ['JSON without a type', { type: '' }],
    ['JSON without headers', { headers: {} }],
    ['null', { payload: null, headers: {}, type: '' }],
    ['bytes', { payload: Buffer.from([0, 10, 255]) }],
    ['no bytes', { payload: Buffer.alloc(0), headers: {} }],
    ['text that looks encrypted', { payload: 'Nencrypted\nk1\nB' }],
  ])('is read back with %s', (_, content) => {
    expect(codec.decode(bodyOf(content))).toEqual({ ...CONTENT, ...content });
  });

  it('is what other programs make of the same key, nonce and context', async () => {
    const nonce = Buffer.from('000102030405060708090a0b', 'hex');
    const options: EncryptionOptions = { current: 'k1', keys: { k1: K1 } };
    const fixed = (encryptionWith(options, () => nonce) as Encryption).codec;
    const body = bodyOf({}, fixed);
    const key = await webcrypto.subtle.importKey('raw', K1, 'AES-GCM', false, ['encrypt']);
    const additionalData = Buffer.from(`${nameOf('k1', K1)}\npayload\ncharge`);
    const text = Buffer.from(`j${JSON.stringify(CONTENT.headers)}\n${JSON.stringify(SECRET)}`);
    const expected = await webcrypto.subtle.encrypt({ name: 'AES-GCM', iv: nonce, additionalData }, key, text);
    expect(body.subarray(startOfBytes(body))).toEqual(Buffer.concat([nonce, Buffer.from(expected)]));
    // A change of the format would make stored messages unreadable.
    expect(body.toString('base64')).toBe(GOLDEN);
    expect(codec.decode(Buffer.from(GOLDEN, 'base64'))).toEqual(CONTENT);
  });

  it('has the tag of test case 16 of the specification of GCM', () => {
    const hex = (text: string) => Buffer.from(text, 'hex');
    const key = hex('feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308');
    const decipher = createDecipheriv('aes-256-gcm', key, hex('cafebabefacedbaddecaf888'), { authTagLength: 16 });
    decipher.setAAD(hex('feedfacedeadbeeffeedfacedeadbeefabaddad2'));
    decipher.setAuthTag(hex('76fc6ece0f4e1768cddf8853bb2d551b'));
    const bytes =
      '522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662';
    const text = Buffer.concat([decipher.update(hex(bytes)), decipher.final()]);
    expect(text.toString('hex')).toBe(
      'd9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39',
    );
  });

  it('is different each time', () => {
    const bodies = new Set(Array.from({ length: 1000 }, () => bodyOf().toString('latin1')));
    expect(bodies.size).toBe(1000);
  });

  it.each([
    ['the type', (body: Buffer) => Buffer.from(body.toString('latin1').replace('charge', 'refund'), 'latin1')],
    ['the nonce', (body: Buffer) => flipped(body, startOfBytes(body))],
    ['the encrypted bytes', (body: Buffer) => flipped(body, startOfBytes(body) + 12)],
    ['the tag', (body: Buffer) => flipped(body, body.length - 1)],
    ['its end', (body: Buffer) => body.subarray(0, -1)],
    ['all but the nonce', (body: Buffer) => body.subarray(0, startOfBytes(body) + 12)],
    ['everything', (body: Buffer) => body.subarray(0, startOfBytes(body))],
  ])('is unreadable if somebody changes %s', (_, change) => {
    const changed = change(bodyOf());
    expect(() => codec.decode(changed)).toThrow(
      expect.objectContaining({ code: 'INVALID_PAYLOAD', message: expect.stringContaining('somebody has changed it') }),
    );
    expect(() => codec.decode(changed)).not.toThrow(UnknownBodyForm);
  });

  it('is unreadable as an error, and an error as a body', () => {
    const error = JSON.parse(codec.errors!.encode(JSON.stringify({ name: 'E', message: 'm' }))) as Record<
      string,
      string
    >;
    const payload = new EncryptedPayload(error.key!, Buffer.from(error.base64!, 'base64'));
    const body = Buffer.from(nativeCodec.encode({ type: '', payload, headers: {} }) as string);
    expect(() => codec.decode(body)).toThrow('somebody has changed it');
  });

  it.each([
    ['without keys', nativeCodec],
    ['with other keys', codecOf({ current: 'k2', keys: { k2: K2 } })],
    ['with another key of the same id', codecOf({ current: 'k1', keys: { k1: K2 } })],
  ])('waits for another process %s', (_, other) => {
    for (const body of [bodyOf(), bodyOf({ group: 'g' }), putOff(bodyOf())]) {
      expect(() => other.decode(body)).toThrow(UnknownBodyForm);
      expect(() => other.decode(body)).toThrow(`it is encrypted with key '${nameOf('k1', K1)}'`);
    }
  });

  it('is shown without its key, with what is not encrypted', () => {
    const { payload, ...shown } = readContent(nativeCodec, putOff(bodyOf({ group: 'acme' })));
    expect(shown).toEqual({ type: 'charge', headers: {}, group: 'acme' });
    expect(payload).toBeInstanceOf(EncryptedPayload);
    expect(payload).toHaveProperty('key', nameOf('k1', K1));
    expect(readContent(codec, bodyOf()).payload).toEqual(SECRET);
  });

  it('can be offered again without its key, and read by whoever has it', () => {
    const { payload } = readContent<EncryptedPayload>(nativeCodec, bodyOf());
    const exported = JSON.parse(JSON.stringify(payload)) as { encryptedWith: string; base64: string };
    const imported = new EncryptedPayload(exported.encryptedWith, Buffer.from(exported.base64, 'base64'));
    for (const again of [payload, imported]) {
      for (const writer of [nativeCodec, codec]) {
        const body = bodyOf({ payload: again, headers: {}, group: 'other' }, writer);
        expect(codec.decode(body)).toEqual({ ...CONTENT, group: 'other' });
      }
    }
    expect(() => bodyOf({ payload, headers: { h: '1' } }, nativeCodec)).toThrow(
      'headers: an EncryptedPayload has its own',
    );
  });

  it('takes the bytes of the encrypted payload and headers of maxPayloadBytes', () => {
    const content = { ...CONTENT, payload: 'x'.repeat(1000), group: 'acme', expiry: { after: 5 } };
    const bytes = readContent<EncryptedPayload>(nativeCodec, bodyOf(content)).payload.bytes.length;
    expect(() => encodeBody({ codec, maxPayloadBytes: bytes }, content)).not.toThrow();
    expect(() => encodeBody({ codec, maxPayloadBytes: bytes - 1 }, content)).toThrow(`take ${bytes} bytes`);
    const { payload } = readContent<EncryptedPayload>(nativeCodec, bodyOf(content));
    const moved = { type: CONTENT.type, payload, headers: {} };
    for (const each of [codec, nativeCodec]) {
      expect(() => encodeBody({ codec: each, maxPayloadBytes: bytes }, moved)).not.toThrow();
      expect(() => encodeBody({ codec: each, maxPayloadBytes: bytes - 1 }, moved)).toThrow(`take ${bytes} bytes`);
    }
  });
});

describe('keys', () => {
  const both = { k1: K1, k2: K2 };

  it('rotate: the current one encrypts, and all of them decrypt', () => {
    const rotated = codecOf({ current: 'k2', keys: both });
    expect(rotated.decode(bodyOf())).toEqual(CONTENT);
    expect(bodyOf({}, rotated).toString('latin1')).toContain(nameOf('k2', K2));
    expect(() => codec.decode(bodyOf({}, rotated))).toThrow(UnknownBodyForm);
  });

  it('only decrypt while there is no current one', () => {
    const reading = codecOf({ current: null, keys: both });
    expect(bodyOf({}, reading)).toEqual(Buffer.from(nativeCodec.encode(CONTENT) as string));
    expect(reading.decode(bodyOf())).toEqual(CONTENT);
    expect(reading.errors!.encode('{"name":"E","message":"m"}')).toBe('{"name":"E","message":"m"}');
  });

  it('read what is not encrypted, unless that is refused', () => {
    const plain = Buffer.from(nativeCodec.encode(CONTENT) as string);
    expect(codec.decode(plain)).toEqual(CONTENT);
    const strict = codecOf({ current: 'k1', keys: both, plain: 'refuse' });
    expect(() => strict.decode(plain)).toThrow("it is not encrypted (plain: 'refuse')");
    expect(() => strict.decode(putOff(plain))).toThrow("it is not encrypted (plain: 'refuse')");
    expect(strict.decode(bodyOf())).toEqual(CONTENT);
  });

  it('are bytes or base64 of either alphabet, and may change later', () => {
    const bytes = Buffer.alloc(32, 0xfb);
    const texts = [bytes.toString('base64'), bytes.toString('base64url')];
    const body = bodyOf({}, codecOf({ current: 'k', keys: { k: bytes } }));
    for (const key of texts) expect(codecOf({ current: 'k', keys: { k: key } }).decode(body)).toEqual(CONTENT);
    const given = Buffer.from(bytes);
    const kept = codecOf({ current: 'k', keys: { k: given } });
    given.fill(0);
    expect(kept.decode(body)).toEqual(CONTENT);
  });

  it('tell whether two bodies have the same content and key', () => {
    expect(codec.isSame!(bodyOf(), bodyOf())).toBe(true);
    expect(codec.isSame!(bodyOf(), bodyOf({ payload: 1 }))).toBe(false);
    expect(codec.isSame!(bodyOf(), bodyOf({ group: 'g' }))).toBe(false);
    expect(codec.isSame!(bodyOf(), Buffer.from(nativeCodec.encode(CONTENT) as string))).toBe(false);
    const rotated = codecOf({ current: 'k2', keys: both });
    expect(rotated.isSame!(bodyOf(), bodyOf({}, rotated))).toBe(false);
  });

  it('are never shown', () => {
    const shown = inspect(encryption({ current: 'k1', keys: both }), { depth: 10, showHidden: true });
    for (const key of [K1, K2]) {
      for (const encoding of ['base64', 'hex', 'latin1'] as const) expect(shown).not.toContain(key.toString(encoding));
    }
  });

  const TEXT = 'c2VjcmV0IHNlY3JldCBzZWNyZXQ=';
  it.each<[string, unknown, string]>([
    ['no options', undefined, 'must be given an object'],
    ['an unknown option', { current: 'k', keys: { k: K1 }, [TEXT]: 1 }, 'the options are keys, current, plain'],
    ['no keys', { current: 'k' }, 'keys: must be an object'],
    ['a list of keys', { current: 'k', keys: [K1] }, 'keys: must be an object'],
    ['text instead of keys', { current: 'k', keys: TEXT }, 'keys: must be an object'],
    ['an empty object', { current: null, keys: {} }, 'keys: has no key'],
    ['a bad id', { current: TEXT, keys: { [TEXT]: K1 } }, 'keys: an id has 1–32'],
    ['a long id', { current: 'k', keys: { ['k'.repeat(33)]: K1 } }, 'keys: an id has 1–32'],
    ['too few bytes', { current: 'k', keys: { k: Buffer.from(TEXT) } }, 'keys.k: must be 32 random bytes'],
    ['a short text', { current: 'k', keys: { k: TEXT } }, 'keys.k: must be 32 random bytes'],
    ['hexadecimal text', { current: 'k', keys: { k: K1.toString('hex') } }, 'of 64 characters'],
    ['a number', { current: 'k', keys: { k: 7 } }, 'It is a number'],
    ['no current key', { keys: { k: K1 } }, 'current: must be the id of one of the keys (k)'],
    [
      'a current key that is none',
      { current: TEXT, keys: { k: K1 } },
      'current: must be the id of one of the keys (k)',
    ],
    ['a wrong policy', { current: 'k', keys: { k: K1 }, plain: 'no' }, "plain: must be 'read' or 'refuse', not 'no'"],
    [
      'a getter that throws',
      Object.defineProperty({}, 'keys', { enumerable: true, get: fail }),
      'a value cannot be read',
    ],
  ])('are refused without showing them: %s', (_, options, problem) => {
    expect.assertions(2);
    try {
      encryption(options as EncryptionOptions);
    } catch (error) {
      expect(error).toMatchObject({ code: 'INVALID_OPTION', message: expect.stringContaining(problem) });
      expect(inspect(error)).not.toContain(TEXT);
    }
  });
});

describe('the error of a dead letter', () => {
  const error = JSON.stringify({
    name: 'CardError',
    message: 'card 4111 was refused',
    stack: 'CardError\n    at x (y.js:1:2)',
  });
  const { encode, decode } = codec.errors!;

  it('is encrypted in one line, and an error like any other to a process without keys', () => {
    const stored = encode(error);
    for (const secret of ['4111', 'CardError', 'y.js', '\n']) expect(stored).not.toContain(secret);
    const message = `This error is encrypted with key '${nameOf('k1', K1)}'`;
    expect(JSON.parse(stored)).toMatchObject({ name: 'Encrypted', message });
    expect(decode(stored)).toBe(error);
    const others = codecOf({ current: 'k2', keys: { k2: K2 } });
    expect(others.errors!.decode(stored)).toBe(stored);
  });

  it('stays as it is if it is not encrypted, is damaged, or says that a body is unreadable', () => {
    for (const plain of [error, 'no JSON', '{"name":"Encrypted","message":"mine"}', '{"name":"Encrypted"']) {
      expect(decode(plain)).toBe(plain);
    }
    const damaged = encode(error).replace(
      /"base64":"./,
      (start) => start.slice(0, -1) + (start.endsWith('A') ? 'B' : 'A'),
    );
    expect(decode(damaged)).toBe(damaged);
    const unreadable = '{"name":"UnreadableBody","message":"m"}';
    expect(encode(unreadable)).toBe(unreadable);
  });
});

describe('EncryptedPayload', () => {
  it.each([
    ['a key with a line feed', 'k\n', Buffer.alloc(30)],
    ['no key', undefined, Buffer.alloc(30)],
    ['text', 'k1', 'AAAA'],
  ])('refuses %s', (_, key, bytes) => {
    expect(() => new EncryptedPayload(key!, bytes as Buffer)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
    );
  });
});

function flipped(body: Buffer, at: number): Buffer {
  const changed = Buffer.from(body);
  changed[at]! ^= 1;
  return changed;
}

function fail(): never {
  throw new Error('no');
}

const GOLDEN =
  'TmVuY3J5cHRlZAprMTo1YmVkMDhkMQpDY2hhcmdlCgABAgMEBQYHCAkKC9Hdt1JFkGcXikjd5kEKpcaMu2Fx1/IkchXoAqKVtgyDcuLrlUDjI5k7ZiSkwDGxoSsQBg0npr/Qjdp8d8XhDiSI';
