import { describe, expect, it } from '@jest/globals';
import { assertMessageId, MessageIdGenerator } from '../../lib/message/message-id.js';

const take = (generator: MessageIdGenerator, count: number) => Array.from({ length: count }, () => generator.next());
const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

describe('generated ids', () => {
  it('have 16 characters that need no quoting', () => {
    expect(new MessageIdGenerator().next()).toMatch(/^[-\w]{16}$/);
  });

  it('sort in creation order, even within a millisecond', () => {
    const ids = take(new MessageIdGenerator(() => 1_700_000_000_000), 10_000);
    expect([...ids].sort(byBytes)).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('sort in creation order, even if the clock goes back', () => {
    let now = 1_700_000_000_000;
    const generator = new MessageIdGenerator(() => (now -= 1000));
    const ids = take(generator, 100);
    expect([...ids].sort(byBytes)).toEqual(ids);
  });

  it('differ between two processes, even in the same millisecond', () => {
    const [a, b] = [new MessageIdGenerator(() => 5), new MessageIdGenerator(() => 5)];
    expect(a.next()).not.toBe(b.next());
  });
});

describe('a custom id', () => {
  it.each(['a', 'unpaid:17', 'größer', 'x'.repeat(256), '😀'])('%p is accepted', (id) => {
    expect(() => assertMessageId(id)).not.toThrow();
  });

  it.each(['', 'x'.repeat(257), 'ä'.repeat(129), 'a\nb', 'a\u0000b', 'a\ud83d', '\udc00b', 7, null, undefined])(
    '%p is rejected',
    (id) => {
      expect(() => assertMessageId(id)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
    },
  );
});
