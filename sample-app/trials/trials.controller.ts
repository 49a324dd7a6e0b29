import { Controller, HttpCode, Post } from '@nestjs/common';
import { Checkouts } from './checkouts.js';
import { Drafts } from './drafts.js';
import { Mails } from './mails.js';
import { Reindexes } from './reindexes.js';
import { Reminders } from './reminders.js';

@Controller('trials')
export class TrialsController {
  constructor(
    private readonly checkouts: Checkouts,
    private readonly drafts: Drafts,
    private readonly reindexes: Reindexes,
    private readonly mails: Mails,
    private readonly reminders: Reminders,
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

  @Post('mails/offer')
  @HttpCode(202)
  offerMails(): Promise<void> {
    return this.mails.offer();
  }

  @Post('reminders/start')
  @HttpCode(202)
  startReminders(): Promise<void> {
    return this.reminders.start();
  }

  @Post('reminders/stop')
  @HttpCode(202)
  stopReminders(): Promise<void> {
    return this.reminders.stop();
  }
}
