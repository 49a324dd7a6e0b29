import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { DelayedHandler, type DelayedMessage } from 'nestjs-delay-queue';
import { ShopEvents } from '../live/shop-events.js';
import type { Parcel, ParcelNews } from './parcel.js';

const PACKING = 1500;

@Injectable()
export class ParcelPacker {
  constructor(private readonly events: ShopEvents) {}

  @DelayedHandler('parcels', { concurrency: 4, lease: '3s' })
  async pack(parcel: Parcel, { attempt, signal }: DelayedMessage<Parcel>): Promise<void> {
    await this.#tell({ ...parcel, state: 'packing', attempt, pid: process.pid });
    // Packing takes a while. It ends early if the lease is lost, because another worker then packs this parcel.
    await sleep(PACKING, undefined, { signal });
    await this.#tell({ ...parcel, state: 'packed', attempt, pid: process.pid });
  }

  #tell(data: ParcelNews): Promise<void> {
    return this.events.publish({ type: 'parcel', data });
  }
}
