import { Body, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import type { OrderBatch } from './order-batch.js';
import { OrderBatchesService } from './order-batches.service.js';
import type { Order } from './order.js';
import { OrdersService } from './orders.service.js';
import { readPlaceOrder } from './place-order.dto.js';

@Controller('orders')
export class OrdersController {
  constructor(
    private readonly orders: OrdersService,
    private readonly batches: OrderBatchesService,
  ) {}

  @Post()
  place(@Body() body?: unknown): Promise<Order> {
    const { item, payWithin } = readPlaceOrder(body);
    return this.orders.place(item, payWithin);
  }

  @Post('batch')
  placeMany(): Promise<OrderBatch> {
    return this.batches.place();
  }

  @Post(':id/pay')
  @HttpCode(200)
  pay(@Param('id') id: string): Promise<Order> {
    return this.orders.pay(id);
  }

  @Get()
  latest(): Promise<Order[]> {
    return this.orders.latest();
  }

  @Get(':id')
  find(@Param('id') id: string): Promise<Order> {
    return this.orders.find(id);
  }
}
