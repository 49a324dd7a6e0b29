import { Injectable } from '@nestjs/common';
import { Switches, type SwitchStates } from '../../controls/switches.js';
import { RedisConnection } from './redis-connection.js';

const SWITCHES = 'shop:switches';
const ON = '1';
const OFF = '0';

@Injectable()
export class RedisSwitches extends Switches {
  constructor(private readonly redis: RedisConnection) {
    super();
  }

  override async read(): Promise<SwitchStates> {
    const [failing, paused] = await this.redis.commands.hmget(SWITCHES, 'failing', 'paused');
    return { failing: failing === ON, paused: paused === ON };
  }

  override async set(states: Partial<SwitchStates>): Promise<SwitchStates> {
    const fields = Object.entries(states).map(([name, on]) => [name, on ? ON : OFF]);
    await this.redis.commands.hset(SWITCHES, Object.fromEntries(fields) as Record<string, string>);
    return this.read();
  }
}
