import { Module } from '@nestjs/common';
import { OrderBatchesService } from './order-batches.service.js';
import { OrderTimeouts } from './order-timeouts.js';
import { OrdersController } from './orders.controller.js';
import { OrdersService } from './orders.service.js';

@Module({
  controllers: [OrdersController],
  providers: [OrdersService, OrderBatchesService, OrderTimeouts],
  exports: [OrdersService],
})
export class OrdersModule {}
