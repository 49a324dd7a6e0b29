import { Controller, HttpCode, Post } from '@nestjs/common';
import { Checkouts } from './checkouts.js';
import { Drafts } from './drafts.js';
import { Reindexes } from './reindexes.js';

@Controller('trials')
export class TrialsController {
  constructor(
    private readonly checkouts: Checkouts,
    private readonly drafts: Drafts,
    private readonly reindexes: Reindexes,
  ) {}

  @Post('checkouts/start')
  @HttpCode(202)
  startCheckout(): Promise<void> {
    return this.checkouts.start();
  }

  @Post('checkouts/pay')
  @HttpCode(202)
  pay(): Promise<void> {
    return this.checkouts.pay();
  }

  @Post('drafts/edit')
  @HttpCode(202)
  edit(): Promise<void> {
    return this.drafts.edit();
  }

  @Post('reindexes/change')
  @HttpCode(202)
  change(): Promise<void> {
    return this.reindexes.change();
  }
}
