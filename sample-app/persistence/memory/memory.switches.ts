import { Injectable } from '@nestjs/common';
import { Switches, type SwitchStates } from '../../controls/switches.js';

@Injectable()
export class MemorySwitches extends Switches {
  #states: SwitchStates = { failing: false, paused: false, resumedAt: null };

  override read(): Promise<SwitchStates> {
    return Promise.resolve(this.#states);
  }

  override set(states: Partial<SwitchStates>): Promise<SwitchStates> {
    this.#states = { ...this.#states, ...states };
    return this.read();
  }
}
