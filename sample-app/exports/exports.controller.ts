import { Controller, HttpCode, NotFoundException, Param, Post } from '@nestjs/common';
import { DelayQueueProducer } from 'nestjs-delay-queue';

@Controller('exports')
export class ExportsController {
  constructor(private readonly producer: DelayQueueProducer) {}

  @Post()
  async start(): Promise<{ id: string }> {
    const { id } = await this.producer.offer('exports', {}, 0);
    return { id };
  }

  @Post(':id/abort')
  @HttpCode(200)
  async abort(@Param('id') id: string): Promise<{ askedAt: string }> {
    const askedAt = new Date().toISOString();
    const isAborted = await this.producer.abort('exports', id);
    if (!isAborted) throw new NotFoundException('It is done already');
    return { askedAt };
  }
}
