import { Module } from '@nestjs/common';
import { Checkouts } from './checkouts.js';
import { Drafts } from './drafts.js';
import { Mails } from './mails.js';
import { Reindexes } from './reindexes.js';
import { Reminders } from './reminders.js';
import { TrialsController } from './trials.controller.js';
import { Trials } from './trials.js';

@Module({
  controllers: [TrialsController],
  providers: [Trials, Checkouts, Drafts, Reindexes, Mails, Reminders],
})
export class TrialsModule {}
