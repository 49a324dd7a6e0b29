import { Injectable, Module } from '@nestjs/common';
import { DelayedHandler, type PayloadOf } from 'nestjs-delay-queue';
import { Emails } from './emails.js';

@Injectable()
export class WelcomeMails {
  @DelayedHandler(Emails)
  send({ to }: PayloadOf<typeof Emails>): void {
    console.log(`worker: welcome, ${to}`);
  }
}

@Module({ providers: [WelcomeMails] })
export class WorkerModule {}
