import { Module } from '@nestjs/common';
import { DeadLettersController } from './dead-letters.controller.js';
import { DeadOrders } from './dead-orders.js';

@Module({ controllers: [DeadLettersController], providers: [DeadOrders], exports: [DeadOrders] })
export class DeadLettersModule {}
