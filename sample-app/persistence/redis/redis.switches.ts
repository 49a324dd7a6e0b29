import { Injectable } from '@nestjs/common';
import { Switches, type SwitchStates } from '../../controls/switches.js';
import { RedisConnection } from './redis-connection.js';
import { TurnBatch } from './turn-batch.js';

const SWITCHES = 'shop:switches';
const ON = '1';
const OFF = '0';

@Injectable()
export class RedisSwitches extends Switches {
  /** Every handler that starts reads them, so those that start together read them once. */
  readonly #reads = new TurnBatch<void, SwitchStates>(async (reads) => {
    const states = await this.#read();
    return reads.map(() => states);
  });

  constructor(private readonly redis: RedisConnection) {
    super();
  }

  override read(): Promise<SwitchStates> {
    return this.#reads.add();
  }

  override async set({ failing, paused, resumedAt }: Partial<SwitchStates>): Promise<SwitchStates> {
    const fields = {
      ...(failing !== undefined && { failing: failing ? ON : OFF }),
      ...(paused !== undefined && { paused: paused ? ON : OFF }),
      ...(resumedAt && { resumedAt }),
    };
    await this.redis.commands.hset(SWITCHES, fields);
    return this.read();
  }

  async #read(): Promise<SwitchStates> {
    const [failing, paused, resumedAt = null] = await this.redis.commands.hmget(
      SWITCHES,
      ...['failing', 'paused', 'resumedAt'],
    );
    return { failing: failing === ON, paused: paused === ON, resumedAt };
  }
}
