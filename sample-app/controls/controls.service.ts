import { Injectable } from '@nestjs/common';
import { DelayQueueProducer } from 'nestjs-delay-queue';
import { ShopEvents } from '../live/shop-events.js';
import { Switches, type SwitchStates } from './switches.js';

@Injectable()
export class ControlsService {
  constructor(
    private readonly producer: DelayQueueProducer,
    private readonly switches: Switches,
    private readonly events: ShopEvents,
  ) {}

  letHandlerFail(failing: boolean): Promise<SwitchStates> {
    return this.#set({ failing });
  }

  async pause(): Promise<SwitchStates> {
    await this.producer.pause('orders');
    return this.#set({ paused: true });
  }

  async resume(): Promise<SwitchStates> {
    await this.producer.resume('orders');
    return this.#set({ paused: false });
  }

  async #set(some: Partial<SwitchStates>): Promise<SwitchStates> {
    const states = await this.switches.set(some);
    await this.events.publish({ type: 'switches', data: states });
    return states;
  }
}
