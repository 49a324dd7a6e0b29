import { Injectable } from '@nestjs/common';
import { ShopEvents } from '../live/shop-events.js';

/** What has happened in a trial, for the card of the page that started it. */
export interface TrialNews {
  readonly trial: 'checkouts' | 'drafts' | 'reindexes' | 'mails' | 'reminders';
  readonly text: string;
  /** How late its message was, ms. */
  readonly lateBy?: number;
  /** The time of the calendar that it was for, ISO 8601. */
  readonly at?: string;
  /** When it goes on, ISO 8601. */
  readonly dueAt?: string;
  /** Takes the place of the line before if that one has the same. */
  readonly line?: string;
}

/** Tells the pages what happens in the trials. */
@Injectable()
export class Trials {
  constructor(private readonly events: ShopEvents) {}

  tell(trial: TrialNews['trial'], text: string, more: Omit<TrialNews, 'trial' | 'text'> = {}): Promise<void> {
    return this.events.publish({ type: 'trial', data: { trial, text, ...more } });
  }
}
