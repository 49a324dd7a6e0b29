// Handlers with the packages that many an application has: class-validator, and nestjs-cls.
import 'reflect-metadata';
import { Injectable, Module, UseGuards, UseInterceptors, UsePipes, ValidationPipe } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { IsString } from 'class-validator';
import { ClsGuard, ClsInterceptor, ClsModule, ClsService } from 'nestjs-cls';
import { DelayedHandler, DelayQueueModule, DelayQueueProducer } from 'nestjs-delay-queue';

class OrderDto {
  @IsString()
  readonly orderId!: string;
}

const said: Record<string, unknown> = {};

@Injectable()
class Handlers {
  constructor(private readonly cls: ClsService) {}

  @DelayedHandler('valid', { attempts: 1 })
  @UsePipes(new ValidationPipe({ transform: true }))
  validated(payload: OrderDto): void {
    said.isDto = payload instanceof OrderDto;
  }

  @DelayedHandler('guard')
  @UseGuards(ClsGuard)
  inGuard(): Promise<void> {
    return this.#keep('guard');
  }

  @DelayedHandler('interceptor')
  @UseInterceptors(ClsInterceptor)
  inInterceptor(): Promise<void> {
    return this.#keep('interceptor');
  }

  @DelayedHandler('plain')
  plain(): void {
    said.leaked = this.cls.isActive();
  }

  async #keep(key: string): Promise<void> {
    this.cls.set('kept', key);
    await new Promise((resolve) => setTimeout(resolve, 2));
    said[key] = this.cls.get('kept');
  }
}

@Module({
  imports: [DelayQueueModule.forRoot({ store: 'memory' }), ClsModule.forRoot({ global: true })],
  providers: [Handlers],
})
class AppModule {}

async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
  const producer = app.get(DelayQueueProducer);
  const handle = async (queue: string, payload: object) => {
    const { id } = await producer.offer(queue, payload, 0);
    let message = await producer.find(queue, id);
    for (; message && message.state !== 'dead'; message = await producer.find(queue, id)) {
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  };
  await handle('valid', { orderId: 'o-1' });
  await handle('valid', { orderId: 1 });
  for (const queue of ['guard', 'interceptor', 'plain']) await handle(queue, {});
  const { messages: letters } = await producer.deadLetters('valid').list();
  said.invalid = letters.map(({ error }) => error.name);
  await app.close();
  console.log(JSON.stringify(said));
}

void main();
