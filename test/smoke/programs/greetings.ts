// The first code that a user writes: a handler and a module that needs no Redis.
import { Injectable, Module } from '@nestjs/common';
import { DelayedHandler, DelayQueueModule } from 'nestjs-delay-queue';

@Injectable()
export class Greetings {
  readonly greeted: string[] = [];

  @DelayedHandler('greetings')
  greet({ name }: { name: string }): void {
    this.greeted.push(name);
  }
}

@Module({ imports: [DelayQueueModule.forRoot({ store: 'memory' })], providers: [Greetings] })
export class GreetingsModule {}
