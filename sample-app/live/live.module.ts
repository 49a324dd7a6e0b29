import { Module } from '@nestjs/common';
import { ControlsModule } from '../controls/controls.module.js';
import { DeadLettersModule } from '../dead-letters/dead-letters.module.js';
import { FiguresModule } from '../figures/figures.module.js';
import { OrdersModule } from '../orders/orders.module.js';
import { ParcelsModule } from '../parcels/parcels.module.js';
import { LiveController } from './live.controller.js';
import { LiveFeed } from './live-feed.js';
import { QueueCounts } from './queue-counts.js';

@Module({
  imports: [ControlsModule, OrdersModule, DeadLettersModule, FiguresModule, ParcelsModule],
  controllers: [LiveController],
  providers: [LiveFeed, QueueCounts],
})
export class LiveModule {}
