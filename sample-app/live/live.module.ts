import { Module } from '@nestjs/common';
import { OrdersModule } from '../orders/orders.module.js';
import { LiveController } from './live.controller.js';
import { LiveFeed } from './live-feed.js';
import { QueueCounts } from './queue-counts.js';

@Module({ imports: [OrdersModule], controllers: [LiveController], providers: [LiveFeed, QueueCounts] })
export class LiveModule {}
