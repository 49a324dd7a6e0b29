import { Injectable } from '@nestjs/common';
import { of } from 'rxjs';
import { StoreHealth } from '../../live/store-health.js';

@Injectable()
export class MemoryStoreHealth extends StoreHealth {
  override readonly reachable = of(true);
}
