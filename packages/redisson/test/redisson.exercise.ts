import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { RedissonKeys } from '../src/redisson-keys.js';
import type { DueTime } from '../../../lib/store/producer-store.js';
import type { NativeKeys } from '../../../lib/store/native/native-keys.js';
import type { RedissonMessageStore } from '../src/redisson-store.js';
import { encodeEntry } from './java/entry.codec.js';
import { damageIn, StoreExercise } from '../../../test/layout/exercise/store.exercise.js';

const HOUR = 3_600_000;
/** Two times so many entries make a list that is not read at once. */
const FILLING = 2500;

/** Runs everything that a store of Redisson's layout can do, beside a Java client. */
export class RedissonExercise {
  readonly #common: StoreExercise;

  /** @param redis - plays the Java client */
  constructor(
    private readonly store: RedissonMessageStore,
    private readonly redis: Redis,
    private readonly keys: RedissonKeys & NativeKeys,
  ) {
    this.#common = new StoreExercise(store, damageIn(redis, keys));
  }

  async run(): Promise<void> {
    await this.#common.run();
    await this.#deadLetterFollowed();
    await this.#removeInAllWays((id) => this.store.cancel(id));
    await this.#removeInAllWays((id) => this.#common.offer(id, { after: HOUR }, 'replace'));
    await this.#removeInAllWays((id) => this.store.delayedValues.remove(`body of ${id}`));
    await this.#transferInAllWays();
    await this.#loseToJava();
    await this.#claimAmongJava();
    await this.#repeatValues();
    await this.#readValues();
    await this.#listInAllWays();
  }

  /** No offer of this layout follows another, but the transfer is partly the native one. */
  async #deadLetterFollowed(): Promise<void> {
    await this.#common.end(['a'], { kind: 'retry', delay: 0 });
    while ((await this.#common.transfer()).moved === 0);
    await this.store.claim({ token: 'of a', limit: 1, lease: 0 });
    await this.redis.hset(this.keys.followers, 'a', '@0\nits body');
    while ((await this.#common.transfer()).deadLettered.length === 0);
    await this.store.clear();
  }

  /** Removes messages from all kinds of places in the list of entries. */
  async #removeInAllWays(remove: (id: string) => Promise<unknown>): Promise<void> {
    for (const [list, places] of [
      ['ooo', [0, 2]],
      ['ooooooo', [1, 5]],
      ['oojoo', [1]],
      ['fof', [1]],
      ['ffof', [2]],
    ] as const) {
      await this.#lay(list);
      for (const place of places) await remove(`m${place}`);
      await this.store.clear();
    }
  }

  async #transferInAllWays(): Promise<void> {
    for (const list of ['OooO', 'ooOoooooOoo', 'oojOo', 'oJo', 'fOf', 'ffOf', 'fJf', `f${'J'.repeat(30)}f`]) {
      await this.#lay(list);
      await this.#common.transfer();
      await this.store.clear();
    }
    for (const unreadable of ['a', 'b', 'c']) await this.#add(Buffer.from(unreadable), 0);
    await this.store.pause();
    await this.#lay('O');
    await this.#common.transfer();
    await this.store.resume();
    await this.store.clear();
  }

  /** A transfer, an offer or a new offer of the id drops the messages that Java takes. */
  async #loseToJava(): Promise<void> {
    const forget = [
      () => this.#common.transfer(),
      () => this.#common.offer('new', { after: HOUR }),
      () => this.#common.offer('m0', { after: HOUR }),
    ];
    for (const forgetThem of forget) {
      await this.#lay('OOOO');
      await this.#common.transfer();
      await this.redis.del(this.keys.target);
      await this.store.find('m0');
      await forgetThem();
      await this.store.clear();
    }
  }

  async #claimAmongJava(): Promise<void> {
    await this.#lay('OO');
    await this.#common.transfer();
    await this.redis.lpush(this.keys.target, 'of Java');
    // Something is due before them, but not moved yet.
    await this.#lay('J');
    await this.store.claim({ token: 'a', limit: 3, lease: HOUR });
    await this.store.clear();
  }

  /** Messages with the same value. */
  async #repeatValues(): Promise<void> {
    const offer = (due: DueTime) =>
      this.store.offer(['a', 'b', 'c'].map((id) => ({ id, due, onDuplicate: 'reject', body: 'of Java' })));
    await offer({ after: HOUR });
    await this.store.list({ state: 'delayed', limit: 9 });
    await this.store.reschedule('b', { after: 2 * HOUR });
    for (const id of ['b', 'a']) await this.store.cancel(id);
    await this.store.clear();
    await offer({ at: 0 });
    await this.#common.transfer();
    await this.store.list({ state: 'ready', from: { offset: 1 }, limit: 1 });
    await this.store.claim({ token: 'a', limit: 3, lease: HOUR });
    await this.store.clear();
  }

  /** Among messages that wait for another attempt, and goes on at each kind of place. */
  async #listInAllWays(): Promise<void> {
    const list = async (state: 'delayed' | 'ready') => {
      for (const offset of [0, 1, 2, 3, 4]) {
        const { cursor } = await this.store.list({ state, from: { offset }, limit: 1 });
        if (cursor !== null) await this.store.list({ state, from: { cursor }, limit: 9 });
      }
    };
    await this.#common.end(['a', 'b'], { kind: 'retry', delay: HOUR / 2 });
    await this.#lay('oo');
    await list('delayed');
    await this.store.clear();
    await this.#common.end(['a', 'b'], { kind: 'release' });
    await this.#lay('OOOO');
    await this.#common.transfer();
    await list('ready');
    await this.store.clear();
  }

  async #readValues(): Promise<void> {
    const { delayedValues } = this.store;
    await this.#lay('oj');
    await this.store.checkFormat();
    await delayedValues.count();
    await delayedValues.list();
    await delayedValues.contains('none');
    await delayedValues.remove('of Java');
    await delayedValues.takeFirst();
    await delayedValues.takeFirst();
  }

  /**
   * Offers m0, m1… in this order, as our own (o) or as Java's (j), due now (capital letter) or in an hour. An f stands for many
   * entries that are never due: a search does not find our own among them unless it is in the middle, where it begins.
   */
  async #lay(list: string): Promise<void> {
    for (const [i, letter] of [...list].entries()) {
      const isDue = letter === letter.toUpperCase();
      if (letter === 'f') await this.redis.rpush(this.keys.entries, ...Array<string>(FILLING).fill('never due'));
      else if (letter.toLowerCase() === 'o') await this.#common.offer(`m${i}`, isDue ? { at: i } : { after: HOUR });
      else
        await this.#add(
          encodeEntry({ format: 'Bc0Lc0', id: randomBytes(8), value: Buffer.from('of Java') }),
          isDue ? 0 : Date.now() + HOUR,
        );
    }
  }

  async #add(entry: Buffer, due: number): Promise<void> {
    await this.redis.multi().zadd(this.keys.timeouts, due, entry).rpush(this.keys.entries, entry).exec();
  }
}
