import { Controller, Get, HttpCode, NotFoundException, Param, Post } from '@nestjs/common';
import { type DeadOrder, DeadOrders } from './dead-orders.js';

@Controller('dead-letters')
export class DeadLettersController {
  constructor(private readonly letters: DeadOrders) {}

  @Get()
  list(): Promise<DeadOrder[]> {
    return this.letters.list();
  }

  @Post('redrive')
  @HttpCode(200)
  async redriveAll(): Promise<{ redriven: number }> {
    return { redriven: await this.letters.redriveAll() };
  }

  @Post('discard')
  @HttpCode(200)
  async discardAll(): Promise<{ discarded: number }> {
    return { discarded: await this.letters.discardAll() };
  }

  @Post(':id/redrive')
  @HttpCode(200)
  async redrive(@Param('id') id: string): Promise<{ redriven: number }> {
    if (!(await this.letters.redrive(id))) throw new NotFoundException(`There is no dead letter ${id}`);
    return { redriven: 1 };
  }
}
