import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { DelayQueueModule } from 'nestjs-delay-queue';
import { calendar } from 'nestjs-delay-queue/calendar';
import { openTelemetry } from 'nestjs-delay-queue/otel';
import { ControlsModule } from './controls/controls.module.js';
import { CouponsModule } from './coupons/coupons.module.js';
import { DeadLettersModule } from './dead-letters/dead-letters.module.js';
import { ExportsModule } from './exports/exports.module.js';
import { LiveModule } from './live/live.module.js';
import { OrdersModule } from './orders/orders.module.js';
import { ParcelsModule } from './parcels/parcels.module.js';
import { ShopErrorFilter } from './shop-error.filter.js';
import { PersistenceModule } from './persistence/persistence.module.js';
import type { ShopStore } from './store/shop-store.js';
import { TasksModule } from './tasks/tasks.module.js';
import { TrialsModule } from './trials/trials.module.js';
import { WatchingModule } from './watching/watching.module.js';

@Module({
  imports: [
    ...[OrdersModule, TasksModule, ControlsModule, DeadLettersModule, CouponsModule, ExportsModule, ParcelsModule],
    ...[TrialsModule, LiveModule, WatchingModule],
  ],
  providers: [{ provide: APP_FILTER, useClass: ShopErrorFilter }],
})
export class AppModule {
  static on(store: ShopStore): DynamicModule {
    return {
      module: AppModule,
      imports: [
        DelayQueueModule.forRoot({
          ...(store.kind === 'redis' ? { connection: store.url } : { store: 'memory' }),
          calendar,
          observers: [openTelemetry({ traces: 'none' })],
        }),
        PersistenceModule.on(store),
      ],
    };
  }
}
