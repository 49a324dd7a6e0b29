import { Redis } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';
import { nativeCodec } from '../../../lib/message/codec/native-codec.js';
import { nativeKeys } from '../../../lib/store/native/native-keys.js';
import { readRecord } from '../../../lib/store/native/script-replies.js';
import type { Journal } from '../journal/journal.js';
import { isNaive, type NaiveConsumer } from '../soak-settings.js';
import type { MessageHandler } from './message-handler.js';
import type { ProcessSettings } from './process-settings.js';

interface Faultiness {
  /** How early it takes messages, ms. */
  readonly lead: number;
  /** How often it hands out each message. */
  readonly copies: number;
  /** The time for which it keeps a popped message before it handles it, ms. */
  readonly hold: number;
}

const FAULTINESS: Readonly<Record<NaiveConsumer, Faultiness>> = {
  sound: { lead: 0, copies: 1, hold: 0 },
  lossy: { lead: 0, copies: 1, hold: 300 },
  early: { lead: 400, copies: 1, hold: 0 },
  double: { lead: 0, copies: 2, hold: 0 },
};

const POLL_INTERVAL = 20;

const TRANSFER = `
  local now = redis.call('TIME')
  local until_ms = now[1] * 1000 + math.floor(now[2] / 1000) + tonumber(ARGV[1])
  for _, id in ipairs(redis.call('ZRANGE', KEYS[1], '-inf', until_ms, 'BYSCORE')) do
    redis.call('ZREM', KEYS[1], id)
    for _ = 1, tonumber(ARGV[2]) do
      redis.call('RPUSH', KEYS[3], id .. '\\n' .. redis.call('HGET', KEYS[2], id))
    end
    redis.call('HDEL', KEYS[2], id)
  end`;

/** A queue with a naive consumer; producers offer to it with the module. */
export class NaiveQueue {
  readonly #commands: Redis;
  readonly #popper: Redis;
  readonly #faultiness: Faultiness;
  readonly #handling = new Set<Promise<void>>();
  #loops: Promise<unknown> = Promise.resolve();
  #stopping = false;
  #claims = 0;

  constructor(
    private readonly settings: ProcessSettings,
    private readonly own: { readonly queue: string; readonly journal: Journal; readonly handler: MessageHandler },
  ) {
    const { consumer } = settings.soak;
    if (!isNaive(consumer)) throw new Error('The module is not naive.');
    this.#faultiness = FAULTINESS[consumer];
    const { connection } = settings;
    if (typeof connection !== 'string') throw new Error('A naive consumer knows a single server only.');
    this.#commands = new Redis(connection);
    this.#popper = new Redis(connection);
  }

  start(): void {
    this.#loops = Promise.all([this.#transferLoop(), this.#popLoop()]);
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#loops;
    await Promise.all(this.#handling);
    this.#commands.disconnect();
    this.#popper.disconnect();
  }

  async #transferLoop(): Promise<void> {
    const { delayed, messages } = nativeKeys(this.settings.prefix, this.own.queue);
    const { lead, copies } = this.#faultiness;
    while (!this.#stopping) {
      await this.#commands.eval(TRANSFER, 3, delayed, messages, this.#list, lead, copies);
      await sleep(POLL_INTERVAL);
    }
  }

  async #popLoop(): Promise<void> {
    for (;;) {
      const sentAt = this.own.journal.now();
      const popped = await this.#popper.blpopBuffer(this.#list, 0.2);
      // The observer cannot see what waits here, so it must be handled before the end.
      if (!popped && this.#stopping) return;
      if (!popped) continue;
      // From now on, the message exists in this process only.
      const handling = this.#handle(popped[1], sentAt).finally(() => this.#handling.delete(handling));
      this.#handling.add(handling);
    }
  }

  async #handle(popped: Buffer, sentAt: number): Promise<void> {
    await sleep(this.#faultiness.hold);
    const { journal, handler } = this.own;
    const end = popped.indexOf('\n');
    const { body, dueAt, offeredAt } = readRecord(popped.subarray(end + 1));
    const message = {
      id: popped.toString('utf8', 0, end),
      ...nativeCodec.decode(body),
      attempt: 1,
      dueAt: new Date(dueAt),
      offeredAt: new Date(offeredAt),
      signal: new AbortController().signal,
    };
    const held = { claim: ++this.#claims, sentAt, n: 0 };
    await handler.handle(message, held);
    const { claim, n } = held;
    const at = journal.now();
    void journal.append({ kind: 'settled', n, claim, at, sentAt: at, outcome: 'ack', result: 'accepted' });
  }

  get #list(): string {
    return `${this.settings.prefix}:{${this.own.queue}}:popped`;
  }
}
