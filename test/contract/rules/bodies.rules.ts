import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { type ContractQueues, defined, HOUR } from '../contract-queue.js';

export function describeBodies(queues: ContractQueues): void {
  describe('bodies', () => {
    it.each<[string, unknown]>([
      ['a string', 'naïve 😀 \n\r\t\u0000 "quoted"'],
      ['a number', -0.5],
      ['null', null],
      ['an empty object', {}],
      ['nested data', { a: [1, { b: [[]] }], ' ': '', ключ: 'значение' }],
      ['every byte', Buffer.from(Uint8Array.from({ length: 512 }, (_, index) => index))],
      ['no bytes', Buffer.alloc(0)],
      ['a megabyte', Buffer.alloc(2 ** 20, 'ab\r\n')],
    ])('a body of %s reads the same in every state', async (_, payload) => {
      const queue = await queues.open();
      // `toEqual` would take seconds for a megabyte.
      const isPayload = (body: Buffer | undefined) =>
        isDeepStrictEqual(queue.codec.decode(defined(body)).payload, payload);
      await queue.offer('a', { at: 0 }, { payload });
      expect(isPayload((await queue.find('a')).body)).toBe(true);
      await queue.transfer();
      const { messages } = await queue.store.claim({ token: 't', limit: 1, lease: HOUR });
      expect(isPayload(messages[0]?.body)).toBe(true);
      await queue.settle({ id: 'a', token: 't' }, { kind: 'dead', error: 'x' });
      const letters = await queue.dead();
      expect(isPayload(letters[0]?.body)).toBe(true);
      await queue.store.redrive({ id: 'a' });
      expect(isPayload((await queue.find('a')).body)).toBe(true);
    });

    it('a stored body does not change when the producer or a reader overwrites its buffer', async () => {
      const queue = await queues.open();
      const payload = Buffer.from('as offered');
      const body = Buffer.from(queue.codec.encode({ type: '', payload, headers: {} }));
      await queue.store.offer([{ id: 'a', due: { after: HOUR }, onDuplicate: 'reject', body }]);
      body.fill(0);
      (await queue.find('a')).body.fill(0);
      expect(queue.codec.decode((await queue.find('a')).body).payload).toEqual(payload);
    });
  });
}
