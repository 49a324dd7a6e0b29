/** A web application whose transactions are ambient, by `@nestjs-cls/transactional`. */
import 'reflect-metadata';
import { Body, Controller, type DynamicModule, Inject, Post, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DelayQueueModule } from 'nestjs-delay-queue';
import { OutboxModule } from 'nestjs-delay-queue-outbox';
import { type AmbientLibrary, openLibrary } from './library.js';

export interface AmbientSettings {
  readonly library: string;
  readonly databaseUrl: string;
  readonly table: string;
  readonly redisUrl: string;
  readonly prefix: string;
  readonly queue: string;
}

/** What a method of the shop does after its offer, in the same transaction. */
export type Rest = () => Promise<void>;

/** Each method offers a message with an id, and is given no transaction. */
export interface Shop {
  place(id: string, rest: Rest): Promise<void>;
  /** The same with what `@InjectTransaction()` injects. */
  placeThroughProxy(id: string, rest: Rest): Promise<void>;
  /** In a savepoint of the transaction under way. */
  placeNested(id: string, rest: Rest): Promise<void>;
  /** In a transaction of its own, even within another. */
  placeSeparately(id: string, rest: Rest): Promise<void>;
  /** Begins no transaction. */
  placeOutside(id: string, rest: Rest): Promise<void>;
  placeOutsideThroughProxy(id: string, rest: Rest): Promise<void>;
}

/** A call of the shop, which a request asks for. */
export interface Call {
  readonly method: keyof Shop;
  readonly id: string;
  /** Calls within it. Its transaction goes on if one of them fails. */
  readonly within?: readonly Call[];
  /** How many calls must be as far before this one goes on. */
  readonly meets?: number;
  /** It fails at its end. */
  readonly fails?: boolean;
  /** A failure within it is one of its own. */
  readonly passesOn?: boolean;
}

/** What became of a call. */
export type Outcome = 'done' | 'failed' | { readonly code: string; readonly message: string };

class Failed extends Error {}

/** Lets nobody pass before a number of calls has come. */
class Meeting {
  #waiting: (() => void)[] = [];

  async join(count: number): Promise<void> {
    const met = new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#waiting.length === count) for (const resolve of this.#waiting.splice(0)) resolve();
    await met;
  }
}

interface AmbientTransactions {
  ambientTransactions(library: AmbientLibrary): DynamicModule;
  shopOf(queue: string): Type<Shop>;
}

/** Loaded by name, like the libraries. */
const AMBIENT = './libraries/ambient-transactions.js';

const { library, databaseUrl, table, redisUrl, prefix, queue } = JSON.parse(process.argv[2] ?? '') as AmbientSettings;
const { ambientTransactions, shopOf } = (await import(AMBIENT)) as AmbientTransactions;
const { database, ambient } = await openLibrary(library, databaseUrl);
const ShopOfQueue = shopOf(queue);
const meeting = new Meeting();

@Controller()
class ShopController {
  constructor(@Inject(ShopOfQueue) private readonly shop: Shop) {}

  @Post()
  async call(@Body() call: Call): Promise<{ outcome: Outcome }> {
    try {
      await this.#carryOut(call);
      return { outcome: 'done' };
    } catch (error) {
      const { code, message } = error as { code: string; message: string };
      return { outcome: error instanceof Failed ? 'failed' : { code, message } };
    }
  }

  async #carryOut({ method, id, within = [], meets, fails, passesOn }: Call): Promise<void> {
    await this.shop[method](id, async () => {
      for (const call of within) {
        await this.#carryOut(call).catch((error: unknown) => {
          if (passesOn || !(error instanceof Failed)) throw error;
        });
      }
      if (meets !== undefined) await meeting.join(meets);
      if (fails) throw new Failed();
    });
  }
}

const root = {
  module: class RootModule {},
  imports: [
    DelayQueueModule.forRoot({ connection: redisUrl, prefix }),
    OutboxModule.forRoot({ database, table }),
    ambientTransactions(ambient!),
  ],
  controllers: [ShopController],
  providers: [ShopOfQueue],
};
const app = await NestFactory.create(root, { logger: false });
await app.listen(0, '127.0.0.1');
console.log(await app.getUrl());
