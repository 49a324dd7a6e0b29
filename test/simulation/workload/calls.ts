import type { DelayQueueProducer } from '../../../lib/index.js';
import type { Application } from '../applications/application.js';
import type { QueueTraits } from '../applications/scenario.js';
import type { Chance } from '../world/chance.js';
import type { SimulatedProcess } from '../world/simulated-process.js';
import type { World } from '../world/world.js';

/** A process whose application is up. */
export interface Running {
  readonly process: SimulatedProcess;
  readonly application: Application;
}

export interface CallsOptions {
  readonly world: World;
  readonly chance: Chance;
  /** One of the processes that are up; undefined: none is. */
  readonly choose: (chance: Chance) => Running | undefined;
}

export type Call = (producer: DelayQueueProducer) => Promise<unknown>;

/** The time for which a call that has failed waits before it is made again, ms. */
export const PAUSE = 500;

/** Makes calls from processes that may be frozen or killed. */
export class Calls {
  /** Calls that are repeated and have not succeeded yet, and changes that are not undone yet. */
  pending = 0;

  constructor(private readonly options: CallsOptions) {}

  /** One of the processes that are up; undefined: none is. */
  choose(): Running | undefined {
    const { choose, chance } = this.options;
    return choose(chance);
  }

  /**
   * Runs code in a process.
   *
   * @param onLost - called if the process is frozen now, and killed before it goes on
   */
  run({ process }: Running, task: () => void, onLost: () => void = () => undefined): void {
    const { world } = this.options;
    const forgetDeath = process.onDeath(onLost);
    const run = () => {
      forgetDeath();
      task();
    };
    world.at(world.now, run, process);
  }

  /** Makes a call after so many ms, from one of the processes that are up then, once. */
  once(after: number, traits: QueueTraits, call: Call): void {
    this.options.world.after(after, () => {
      const running = this.choose();
      if (!running) return;
      const producer = producerOf(running.application, traits);
      this.run(running, () => void call(producer).catch(() => undefined));
    });
  }

  /** Makes a call until it succeeds, each time from a process that is up. */
  repeat(first: Running, call: Call, traits: QueueTraits): Promise<void> {
    this.pending++;
    return new Promise((resolve) => {
      const attempt = ({ application, process }: Running) => {
        let isOver = false;
        const end = (isDone: boolean) => {
          if (isOver) return;
          isOver = true;
          forgetDeath();
          if (!isDone) return again();
          this.pending--;
          resolve();
        };
        // A process that is killed tells nobody.
        const forgetDeath = process.onDeath(() => end(false));
        call(producerOf(application, traits)).then(
          () => end(true),
          () => end(false),
        );
      };
      const again = () => {
        this.options.world.after(PAUSE, () => {
          const running = this.choose();
          if (!running) return again();
          this.run(running, () => attempt(running), again);
        });
      };
      attempt(first);
    });
  }
}

export function producerOf({ producer, other }: Application, { kind }: QueueTraits): DelayQueueProducer {
  return kind === 'other' ? other : producer;
}
