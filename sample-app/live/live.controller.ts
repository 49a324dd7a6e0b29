import { Controller, type MessageEvent, Sse } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { LiveFeed } from './live-feed.js';

@Controller('events')
export class LiveController {
  constructor(private readonly feed: LiveFeed) {}

  @Sse()
  open(): Observable<MessageEvent> {
    return this.feed.open();
  }
}
