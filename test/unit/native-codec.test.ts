import { describe, expect, it } from '@jest/globals';
import { bodyType, nativeCodec } from '../../lib/message/codec/native-codec.js';
import { UnknownBodyForm, unwrapPutOff, wrapPutOff } from '../../lib/message/codec/body-forms.js';
import type { RepeatProgress, RepeatRule } from '../../lib/message/repeat-rule.js';
import type { Retries } from '../../lib/message/retries.js';
import type { MessageHeaders } from '../../lib/message/message.js';
import type { MessageContent } from '../../lib/message/codec/message-codec.js';

const encode = (payload: unknown, headers = {}) => nativeCodec.encode({ type: '', payload, headers });
const roundTrip = (content: MessageContent) => nativeCodec.decode(Buffer.from(nativeCodec.encode(content)));

describe('nativeCodec', () => {
  it('writes JSON as readable text', () => {
    expect(encode({ a: [1, 'é'] })).toBe('J{"a":[1,"é"]}');
    expect(encode({ a: 1 }, { trace: '7' })).toBe('j{"trace":"7"}\n{"a":1}');
  });

  it('writes bytes unchanged', () => {
    expect(encode(Buffer.from([0, 10, 255]))).toEqual(Buffer.from([0x42, 0, 10, 255]));
    expect(encode(Buffer.from([10]), { t: '\n' })).toEqual(Buffer.from('b{"t":"\\n"}\n\n'));
  });

  it.each<[string, unknown]>([
    ['null', null],
    ['a boolean', false],
    ['a number', 5e-324],
    ['an empty string', ''],
    ['a string with line feeds, nulls and unpaired surrogates', '\n\u0000\ud800x'],
    ['an array', [1, [2, [3]]]],
    ['an object', { '': { ' ': null } }],
    ['an empty buffer', Buffer.alloc(0)],
    ['a buffer that looks like JSON', Buffer.from('J{"a":1}\n')],
    ['all bytes', Buffer.from(Uint8Array.from({ length: 256 }, (_, byte) => byte))],
  ])('reads back %s unchanged, with and without headers', (_, payload) => {
    const withAndWithout: MessageHeaders[] = [{}, { trace: 'a\nb', 'x-é': '\ud83d\ude00' }];
    for (const headers of withAndWithout) {
      expect(roundTrip({ type: '', payload, headers })).toEqual({ type: '', payload, headers });
    }
  });

  it('writes a type before the headers and the payload', () => {
    const typed = (payload: unknown, headers = {}) => nativeCodec.encode({ type: 'cancel-unpaid', payload, headers });
    expect(typed({ a: 1 })).toBe('Kcancel-unpaid\n{"a":1}');
    expect(typed({ a: 1 }, { t: '7' })).toBe('kcancel-unpaid\n{"t":"7"}\n{"a":1}');
    expect(typed(Buffer.from([10]))).toEqual(Buffer.from('Ccancel-unpaid\n\n'));
    expect(typed(Buffer.from([10]), { t: '7' })).toEqual(Buffer.from('ccancel-unpaid\n{"t":"7"}\n\n'));
  });

  it.each([[{}], [{ trace: 'a\nb' }]])('reads back a type, with headers %j', (headers) => {
    for (const payload of [null, { a: '\n' }, Buffer.from('\n\n')]) {
      const content = { type: 'a.b:c-d_e', payload, headers };
      expect(roundTrip(content)).toEqual(content);
    }
  });

  it.each([
    [{ after: 600_000 }, 'Nexpires\n600000\nK'],
    [{ after: 0, onExpired: 'dead' as const }, 'Nexpires\n0 dead\nK'],
    [{ after: null }, 'Nexpires\nnever\nK'],
  ])('writes an expiry before everything else: %j', (expiry, beginning) => {
    for (const payload of [null, { a: '\n' }, Buffer.from('\n\n')]) {
      const content = { type: 't', payload, headers: { h: '1' }, expiry };
      const body = Buffer.from(nativeCodec.encode(content));
      expect(body.toString('latin1').toLowerCase()).toMatch(
        new RegExp(`^${beginning.toLowerCase().slice(0, -1)}[kc]t\n`),
      );
      expect(roundTrip(content)).toEqual({ ...content, expiry: { onExpired: undefined, ...expiry } });
      const plain = Buffer.from(nativeCodec.encode({ type: '', payload, headers: {} })).length;
      const headers = '{"h":"1"}'.length;
      expect(body.length - nativeCodec.framingBytes!(content)).toBe(plain - 1 + headers);
    }
  });

  it.each([
    'Nexpires\n',
    'Nexpires\nsoon\nJ1',
    'Nexpires\n-1\nJ1',
    'Nexpires\n1 keep\nJ1',
    'Nexpires\n12345678901234\nJ1',
  ])('rejects a body with an invalid expiry: %j', (body) => {
    expect(() => nativeCodec.decode(Buffer.from(body))).toThrow('it does not say when it expires');
  });

  it('writes the rule of a repeating message before everything else', () => {
    const repeat: RepeatRule = { cron: '0 9 * * 1-5', timeZone: 'Europe/Berlin', missed: 'skip' };
    const lines = 'Nrepeat\n{"cron":"0 9 * * 1-5","timeZone":"Europe/Berlin","missed":"skip"}\n';
    for (const payload of [null, { a: '\n' }, Buffer.from('\n\n')]) {
      const content = { type: 't', payload, headers: { h: '1' }, repeat };
      const body = Buffer.from(nativeCodec.encode(content));
      expect(body.toString('latin1').startsWith(lines)).toBe(true);
      expect(body.subarray(lines.length)).toEqual(Buffer.from(nativeCodec.encode({ ...content, repeat: undefined })));
      expect(roundTrip(content)).toEqual(content);
      const plain = nativeCodec.framingBytes!({ ...content, repeat: undefined });
      expect(nativeCodec.framingBytes!(content)).toBe(lines.length + plain);
    }
    const both = { type: '', payload: 1, headers: {}, repeat, expiry: { after: 5, onExpired: 'dead' as const } };
    expect(nativeCodec.encode(both)).toBe(`${lines}Nexpires\n5 dead\nJ1`);
    expect(roundTrip(both)).toEqual(both);
  });

  it.each<[RepeatProgress, string]>([
    [
      { every: 900_000, missed: 'once', count: 0 },
      '{"cron":"every","timeZone":"UTC","missed":"once","every":900000}\nNprogress\n0\n',
    ],
    [
      { cron: '* * * * *', timeZone: 'UTC', missed: 'each', catchUp: 60_000, limit: 7, count: 5, isPaused: true },
      '{"cron":"* * * * *","timeZone":"UTC","missed":"once","catchUp":60000,"limit":7}\nNprogress\n5 paused\n',
    ],
    [
      { cron: '* * * * *', timeZone: 'UTC', missed: 'skip', isPaused: true },
      '{"cron":"* * * * *","timeZone":"UTC","missed":"skip"}\nNprogress\npaused\n',
    ],
    [
      { every: 1000, missed: 'skip', startsAt: new Date(5), endsAt: new Date(6), count: 1 },
      '{"cron":"every","timeZone":"UTC","missed":"skip","every":1000,"startsAt":5,"endsAt":6}\nNprogress\n1\n',
    ],
  ])('writes what only later versions know of a rule so that others put the message off: %j', (repeat, lines) => {
    const content = { type: 't', payload: 1, headers: {}, repeat };
    const body = Buffer.from(nativeCodec.encode(content));
    expect(body.toString()).toBe(`Nrepeat\n${lines}Kt\n1`);
    expect(nativeCodec.decode(body)).toEqual(content);
    expect(bodyType(body)).toBe('t');
  });

  it('reads a body whose rule an older version has removed', () => {
    const body = Buffer.from('Nprogress\n3 paused\nKt\n1');
    expect(nativeCodec.decode(body)).toEqual({ type: 't', payload: 1, headers: {} });
    expect(bodyType(body)).toBe('t');
  });

  it.each([
    'Nrepeat\n{"cron":"* * * * *","timeZone":"UTC","missed":"once"}\nNprogress\nlater\nJ1',
    'Nrepeat\n{"cron":"every","timeZone":"UTC","missed":"once","every":"1"}\nJ1',
    'Nrepeat\n{"cron":"every","timeZone":"UTC","missed":"once","every":-1}\nJ1',
    'Nrepeat\n{"cron":"every","timeZone":"UTC","missed":"each"}\nJ1',
    'Nrepeat\n',
    'Nrepeat\nJ1',
    'Nrepeat\n{}\nJ1',
    'Nrepeat\n7\nJ1',
    'Nrepeat\nnull\nJ1',
    'Nrepeat\n{"cron":"* * * * *","timeZone":"UTC"}\nJ1',
    'Nrepeat\n{"cron":7,"timeZone":"UTC","missed":"once"}\nJ1',
    `Nrepeat\n{"cron":"${'*'.repeat(201)}","timeZone":"UTC","missed":"once"}\nJ1`,
  ])('rejects a body with an invalid repeat rule: %j', (body) => {
    expect(() => nativeCodec.decode(Buffer.from(body))).toThrow('it does not say when it repeats');
  });

  const fixed = { type: 'fixed', delay: 60_000, jitter: 0 } as const;
  const exponential = { type: 'exponential', delay: 1000, factor: 1.5, maxDelay: 9e9, jitter: 1e-7 } as const;

  it.each<[Retries, string]>([
    [{ attempts: 3 }, 'Nretry\n3\n'],
    [{ attempts: 1_000_000, backoff: fixed }, 'Nretry\n1000000 fixed 60000 0\n'],
    [{ backoff: exponential }, 'Nretry\n- exponential 1000 1e-7 1.5 9000000000\n'],
  ])('writes attempts and backoff between the rule and the expiry: %j', (retries, lines) => {
    for (const payload of [null, { a: '\n' }, Buffer.from('\n\n')]) {
      const content = { type: 't', payload, headers: { h: '1' }, retries };
      const plain = { ...content, retries: undefined };
      const body = Buffer.from(nativeCodec.encode(content));
      expect(body).toEqual(Buffer.concat([Buffer.from(lines), Buffer.from(nativeCodec.encode(plain))]));
      expect(roundTrip(content)).toEqual(content);
      expect(nativeCodec.framingBytes!(content)).toBe(lines.length + nativeCodec.framingBytes!(plain));
      expect(bodyType(body)).toBe('t');
    }
    const expiry = { after: 5, onExpired: 'dead' as const };
    const all = { type: 't', payload: 1, headers: {}, retries, expiry, group: 'g' };
    expect(nativeCodec.encode(all)).toBe(`Ngroup\ng\n${lines}Nexpires\n5 dead\nKt\n1`);
    expect(roundTrip(all)).toEqual(all);
    const repeat: RepeatRule = { cron: '0 9 * * *', timeZone: 'UTC', missed: 'once' };
    const repeating = { type: '', payload: 1, headers: {}, retries, expiry, repeat };
    expect(nativeCodec.encode(repeating)).toBe(`Nrepeat\n${JSON.stringify(repeat)}\n${lines}Nexpires\n5 dead\nJ1`);
    expect(roundTrip(repeating)).toEqual(repeating);
    const counted = { ...repeating, type: 't', repeat: { ...repeat, limit: 7, count: 5 } };
    const rule = JSON.stringify({ ...repeat, limit: 7 });
    const body = Buffer.from(nativeCodec.encode(counted));
    expect(body.toString()).toBe(`Nrepeat\n${rule}\nNprogress\n5\n${lines}Nexpires\n5 dead\nKt\n1`);
    expect(nativeCodec.decode(body)).toEqual(counted);
    expect(bodyType(body)).toBe('t');
    expect(nativeCodec.framingBytes!(counted)).toBe(body.length - 1);
  });

  it.each([
    ...['', 'J1', '0\nJ1', '-1\nJ1', '1.5\nJ1', '12345678\nJ1', '-\n', 'x\nJ1', '3 fixed\nJ1', '3 fixed 1\nJ1'],
    ...['3 fixed 1 NaN\nJ1', '3 fixed -1 0\nJ1', '3 fixed 1 0 2\nJ1', '3 exponential 1 0\nJ1', '3 never 1 0\nJ1'],
  ])('rejects a body with invalid attempts or backoff: %j', (rest) => {
    expect(() => nativeCodec.decode(Buffer.from(`Nretry\n${rest}`))).toThrow(
      rest === '-\n' ? 'it is empty' : 'how it is retried',
    );
  });

  it('treats an unknown form with a similar name as one of a later version', () => {
    for (const body of ['Nexpires2\n1\nJ1', 'Nexpire\n1\nJ1', 'Nrepeats\n{}\nJ1', 'Nretries\n3\nJ1']) {
      expect(() => nativeCodec.decode(Buffer.from(body))).toThrow(UnknownBodyForm);
    }
  });

  it('reads a put-off message as the original message', () => {
    const body = Buffer.from(encode({ a: 1 }));
    const putOff = Buffer.from(wrapPutOff(body, 1_900_000_000_000));
    expect(putOff.toString()).toBe('W1900000000000\nJ{"a":1}');
    expect(nativeCodec.decode(putOff)).toEqual({ type: '', payload: { a: 1 }, headers: {} });
    expect(unwrapPutOff(putOff)).toEqual({ since: 1_900_000_000_000, body });
    expect(unwrapPutOff(body)).toEqual({ since: null, body });
  });

  it('names the form of a later version in the error', () => {
    expect(() => nativeCodec.decode(Buffer.from('Nzstd-2\n\x28\xb5'))).toThrow(UnknownBodyForm);
    expect(() => nativeCodec.decode(Buffer.from('Nzstd-2\n\x28\xb5'))).toThrow(/'zstd-2'/);
  });

  it('reads back a Uint8Array as a Buffer of the same bytes', () => {
    const whole = Uint8Array.from([0, 1, 2, 3, 4]);
    const { payload } = roundTrip({ type: '', payload: whole.subarray(1, 4), headers: {} });
    expect(payload).toEqual(Buffer.from([1, 2, 3]));
    expect(Buffer.isBuffer(payload)).toBe(true);
  });

  it('writes a date as a string and leaves out undefined fields', () => {
    const payload = { date: new Date(0), gone: undefined, list: [{ gone: undefined }] };
    expect(roundTrip({ type: '', payload, headers: {} })).toEqual({
      type: '',
      payload: { date: '1970-01-01T00:00:00.000Z', list: [{}] },
      headers: {},
    });
  });

  it('reads __proto__ in payloads and headers as plain data', () => {
    const evil = JSON.parse(
      '{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}}}',
    ) as unknown;
    const headers = JSON.parse('{"__proto__":"h"}') as Record<string, string>;
    const content = roundTrip({ type: '', payload: evil, headers });
    expect(JSON.stringify(content)).toBe(JSON.stringify({ type: '', headers, payload: evil }));
    expect(Object.getPrototypeOf(content.payload)).toBe(Object.prototype);
    expect(Object.getPrototypeOf(content.headers)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it.each([
    ['an empty body', ''],
    ['an unknown kind', 'X{}'],
    ['malformed JSON', 'J{"a":'],
    ['headers that do not end', 'j{"a":"b"}'],
    ['a type that does not end', 'Kcancel-unpaid'],
    ['a type with a character that no type has', 'Kcancel unpaid\n{}'],
    ['a type that is too long', `k${'x'.repeat(65)}\n{}\n{}`],
    ['a later form without a name', 'N\n{}'],
    ['a later form whose name does not end', `N${'x'.repeat(100)}`],
    ['a put-off message without an instant', 'Wnever\nJ{}'],
    ['a put-off message that does not end', 'W1900000000000'],
    ['malformed headers before bytes', 'b{"a"\nxyz'],
    ['headers that are null', 'jnull\n{}'],
    ['headers that are a number', 'b7\nxyz'],
    ['headers that are a list', 'kcancel-unpaid\n["a"]\n{}'],
    ['headers that are a string', 'ccancel-unpaid\n"a"\nxyz'],
    ['a header that is not a string', 'j{"a":"b","c":1}\n{}'],
  ])('rejects %s with an error that does not quote it', (_, body) => {
    expect(() => nativeCodec.decode(Buffer.from(body))).toThrow(
      expect.objectContaining({
        code: 'INVALID_PAYLOAD',
        message: expect.stringContaining(`its ${body.length} bytes were not written by this codec`),
      }),
    );
    expect(() => nativeCodec.decode(Buffer.from(`${body}secret`))).not.toThrow(/secret/);
  });

  it.each(['W1\n', 'Ngroup\ng\n', 'Nprogress\n3\n', 'Nretry\n3\n', 'Nexpires\n1\n'])(
    'rejects more forms around a body than the stack can hold: %j',
    (form) => {
      const body = Buffer.from(`${form.repeat(50_000)}J{}`);
      expect(() => nativeCodec.decode(body)).toThrow(expect.objectContaining({ code: 'INVALID_PAYLOAD' }));
    },
  );
});
