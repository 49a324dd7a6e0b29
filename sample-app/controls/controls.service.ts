import { Injectable } from '@nestjs/common';
import { DelayQueueProducer } from 'nestjs-delay-queue';
import { ShopEvents } from '../live/shop-events.js';
import { OrderBook } from '../orders/order-book.js';
import { Switches, type SwitchStates } from './switches.js';

@Injectable()
export class ControlsService {
  constructor(
    private readonly producer: DelayQueueProducer,
    private readonly switches: Switches,
    private readonly events: ShopEvents,
    private readonly book: OrderBook,
  ) {}

  letHandlerFail(failing: boolean): Promise<SwitchStates> {
    return this.#set({ failing });
  }

  async pause(): Promise<SwitchStates> {
    await this.producer.pause('orders');
    return this.#set({ paused: true });
  }

  async resume(): Promise<SwitchStates> {
    // Noted first: the messages that were held up come at once.
    await this.switches.set({ resumedAt: await this.#now() });
    await this.producer.resume('orders');
    return this.#set({ paused: false });
  }

  /** Sets the switch right after somebody has paused or resumed the queue on the board or by the command line. */
  async notice(): Promise<void> {
    const [paused, known] = await Promise.all([this.producer.isPaused('orders'), this.switches.read()]);
    if (paused === known.paused) return;
    await this.#set(paused ? { paused } : { paused, resumedAt: await this.#now() });
  }

  /** By the clock of the due times. */
  async #now(): Promise<string> {
    return (await this.book.now()).toISOString();
  }

  async #set(some: Partial<SwitchStates>): Promise<SwitchStates> {
    const states = await this.switches.set(some);
    await this.events.publish({ type: 'switches', data: states });
    return states;
  }
}
