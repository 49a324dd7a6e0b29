import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { DelayedHandler, type DelayedMessage } from 'nestjs-delay-queue';
import { ShopEvents } from '../live/shop-events.js';
import type { ExportNews } from './export-news.js';

const STEPS = 50;
const STEP_TAKES = 200;

@Injectable()
export class ExportHandler {
  constructor(private readonly events: ShopEvents) {}

  @DelayedHandler('exports', { concurrency: 4 })
  async write(_payload: unknown, { id, signal }: DelayedMessage): Promise<void> {
    for (let step = 0; step < STEPS; step++) {
      await this.#tell(id, 'running', step);
      // Somebody has aborted the message, or its lease is lost: stop working.
      await sleep(STEP_TAKES, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return this.#tell(id, 'stopped', step);
    }
    await this.#tell(id, 'done', STEPS);
  }

  #tell(id: string, state: ExportNews['state'], steps: number): Promise<void> {
    const news = { id, state, percent: (100 * steps) / STEPS, at: new Date().toISOString() };
    return this.events.publish({ type: 'export', data: news });
  }
}
