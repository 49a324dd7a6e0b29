import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConflictException, Inject, Injectable, Logger, ServiceUnavailableException } from '@nestjs/common';
import { DelayQueueProducer } from 'nestjs-delay-queue';
import { filter, firstValueFrom, timeout } from 'rxjs';
import type { ShopEvent } from '../live/shop-event.js';
import { ShopEvents } from '../live/shop-events.js';
import { SHOP_STORE, type ShopStore } from '../store/shop-store.js';
import type { FrozenWorker } from './frozen-worker.js';
import { WorkerProcess } from './worker-process.js';

const PARCELS = 8;
/** Gives the worker time to take all the parcels it can hold. */
const SETTLING = 300;
/** Longer than its lease of three seconds. */
const FROZEN_FOR = 5000;
const AWAKE_FOR = 1000;
const CLAIM_TIMEOUT = 10_000;

/** Starts a worker, freezes it while it packs, and lets this process take over its parcels. */
@Injectable()
export class FreezeService {
  readonly #logger = new Logger(FreezeService.name);
  #underWay = false;

  constructor(
    @Inject(SHOP_STORE) private readonly store: ShopStore,
    private readonly producer: DelayQueueProducer,
    private readonly events: ShopEvents,
  ) {}

  /** Begins the demonstration, which reports its progress as events. */
  start(): FrozenWorker {
    if (this.store.kind === 'memory') {
      throw new ServiceUnavailableException('A second process needs Redis: the messages are in the memory of this one');
    }
    if (this.#underWay) throw new ConflictException('A worker is already being frozen');
    this.#underWay = true;
    const run = randomBytes(4).toString('hex');
    const begun: FrozenWorker = { run, phase: 'starting', parcels: PARCELS, worker: null, shop: process.pid };
    void this.#run(begun, this.store.url).finally(() => (this.#underWay = false));
    return begun;
  }

  async #run(begun: FrozenWorker, redisUrl: string): Promise<void> {
    let worker: WorkerProcess | undefined;
    try {
      await this.#tell(begun);
      worker = await WorkerProcess.start(redisUrl);
      await this.#freeze({ ...begun, worker: worker.pid }, worker);
    } catch (error) {
      this.#logger.warn(`The worker could not be frozen: ${String(error)}`);
      await this.#tell({ ...begun, phase: 'failed' }).catch(() => undefined);
    } finally {
      await worker?.end();
    }
  }

  async #freeze(state: FrozenWorker, worker: WorkerProcess): Promise<void> {
    await Promise.all([this.#untilHolding(state.run, worker.pid), this.#offerParcels(state.run)]);
    await sleep(SETTLING);
    worker.freeze();
    await this.#tell({ ...state, phase: 'frozen' });
    await sleep(FROZEN_FOR);
    worker.thaw();
    await this.#tell({ ...state, phase: 'awake' });
    await sleep(AWAKE_FOR);
    await this.#tell({ ...state, phase: 'done' });
  }

  async #offerParcels(run: string): Promise<void> {
    const parcels = Array.from({ length: PARCELS }, (_, i) => ({ payload: { run, number: i + 1 }, delay: 0 }));
    await this.producer.offerMany('parcels', parcels);
  }

  #untilHolding(run: string, pid: number): Promise<unknown> {
    const isHolding = filter<ShopEvent>(
      (event) => event.type === 'parcel' && event.data.run === run && event.data.pid === pid,
    );
    return firstValueFrom(this.events.all.pipe(isHolding, timeout(CLAIM_TIMEOUT)));
  }

  #tell(data: FrozenWorker): Promise<void> {
    return this.events.publish({ type: 'frozen-worker', data });
  }
}
