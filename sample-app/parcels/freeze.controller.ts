import { Controller, HttpCode, Post } from '@nestjs/common';
import { FreezeService } from './freeze.service.js';
import type { FrozenWorker } from './frozen-worker.js';

@Controller('worker')
export class FreezeController {
  constructor(private readonly freezer: FreezeService) {}

  @Post('freeze')
  @HttpCode(202)
  freeze(): FrozenWorker {
    return this.freezer.start();
  }
}
