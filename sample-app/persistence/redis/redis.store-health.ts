import { Injectable } from '@nestjs/common';
import {
  distinctUntilChanged,
  exhaustMap,
  fromEvent,
  map,
  merge,
  type Observable,
  ReplaySubject,
  share,
  timer,
} from 'rxjs';
import { StoreHealth } from '../../live/store-health.js';
import { RedisConnection } from './redis-connection.js';

const INTERVAL = 1000;
/** A frozen server keeps its connections open, so only its silence gives it away. */
const SILENCE = 1500;

@Injectable()
export class RedisStoreHealth extends StoreHealth {
  /** Shared by all subscribers; without any, Redis is not asked. */
  override readonly reachable: Observable<boolean>;

  constructor(private readonly redis: RedisConnection) {
    super();
    const { commands } = redis;
    const lost = fromEvent(commands, 'close').pipe(map(() => false));
    const asked = merge(timer(0, INTERVAL), fromEvent(commands, 'ready')).pipe(exhaustMap(() => this.#answers()));
    this.reachable = merge(lost, asked).pipe(
      distinctUntilChanged(),
      share({ connector: () => new ReplaySubject(1), resetOnRefCountZero: true }),
    );
  }

  async #answers(): Promise<boolean> {
    let silence: NodeJS.Timeout | undefined;
    const silent = new Promise<boolean>((resolve) => (silence = setTimeout(resolve, SILENCE, false)));
    const answered = this.redis.commands.ping().then(
      () => true,
      () => false,
    );
    try {
      return await Promise.race([answered, silent]);
    } finally {
      clearTimeout(silence);
    }
  }
}
