// Handlers with all that Nest runs around them, and of providers that are made for each message. It says what happened, in order.
import 'reflect-metadata';
import {
  type ArgumentMetadata,
  type CallHandler,
  type CanActivate,
  Catch,
  Controller,
  createParamDecorator,
  type ExceptionFilter,
  type ExecutionContext,
  ForbiddenException,
  Inject,
  Injectable,
  Module,
  type NestInterceptor,
  type PipeTransform,
  Scope,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
} from '@nestjs/common';
import { APP_GUARD, ContextIdFactory, type ContextIdStrategy, ModuleRef, NestFactory, REQUEST } from '@nestjs/core';
import { again, DelayedHandler, type DelayedMessage, DelayQueueModule, DelayQueueProducer } from 'nestjs-delay-queue';
import { AsyncLocalStorage } from 'node:async_hooks';
import { EMPTY, type Observable, tap } from 'rxjs';

const said: string[] = [];
const entered = new AsyncLocalStorage<string>();

@Injectable()
class Shop {
  readonly name = 'shop';
}

@Injectable()
class GuardOfAll implements CanActivate {
  canActivate(context: ExecutionContext): Promise<boolean> {
    said.push(`guard of all: ${context.getType()}`);
    return Promise.resolve(true);
  }
}

@Injectable()
class Admit implements CanActivate {
  constructor(private readonly shop: Shop) {}
  canActivate(context: ExecutionContext): boolean {
    entered.enterWith('entered');
    said.push(`guard: ${this.shop.name} ${context.getClass() === Enhanced} ${context.getHandler().name}`);
    return true;
  }
}

@Injectable({ scope: Scope.TRANSIENT })
class AdmitToo implements CanActivate {
  constructor(private readonly shop: Shop) {}
  canActivate(): boolean {
    said.push(`guard of its own: ${this.shop.name}`);
    return true;
  }
}

@Injectable()
class Deny implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}

@Injectable()
class Watch implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    said.push(`before: ${context.switchToRpc().getData<{ count: number }>().count}`);
    return next.handle().pipe(tap((result) => said.push(`after: ${String(result)}`)));
  }
}

@Injectable()
class Double implements PipeTransform {
  transform(value: { count: number } | string, { type }: ArgumentMetadata): unknown {
    said.push(`pipe: ${type}`);
    return typeof value === 'string' ? value.repeat(2) : { count: 2 * value.count };
  }
}

@Catch(RangeError, ForbiddenException)
class Forgive implements ExceptionFilter {
  catch(error: Error): void {
    said.push(`filter: ${error.name}`);
  }
}

const Tenant = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.getArgByIndex<DelayedMessage>(1).headers.tenant,
);

@Injectable()
@UseGuards(Admit)
class Enhanced {
  @DelayedHandler('enhanced')
  @UseGuards(AdmitToo)
  @UseInterceptors(Watch)
  @UsePipes(Double)
  handle(payload: { count: number }, { id }: DelayedMessage, @Tenant() tenant: string): string {
    said.push(`handler: ${payload.count} ${id} ${tenant} ${String(entered.getStore())}`);
    return 'done';
  }

  @DelayedHandler('forgiven', { attempts: 1 })
  @UseFilters(Forgive)
  fail(): void {
    throw new RangeError('too far');
  }

  @DelayedHandler('failed', { attempts: 1 })
  @UseFilters(Forgive)
  failOtherwise(): void {
    throw new TypeError('for no filter');
  }

  @DelayedHandler('again')
  comeAgain(_: unknown, { headers }: DelayedMessage): unknown {
    said.push(`again: ${String(headers.tenant)}`);
    return again('1h');
  }

  @DelayedHandler('empty')
  @UseInterceptors({ intercept: () => EMPTY })
  empty(): void {}
}

@Injectable()
class Plain {
  @DelayedHandler('plain')
  handle(): void {
    said.push(`plain: ${String(entered.getStore())}`);
  }
}

@Controller()
@UseGuards(Deny)
@UseFilters(Forgive)
class Orders {
  @DelayedHandler('denied', { attempts: 1 })
  handle(): void {
    said.push('a guard was left out');
  }
}

@Injectable({ scope: Scope.REQUEST })
class Transaction {
  readonly calls: string[] = [];
  constructor(@Inject(REQUEST) readonly message: DelayedMessage) {}
}

@Injectable({ scope: Scope.REQUEST })
class ScopedGuard implements CanActivate {
  constructor(private readonly transaction: Transaction) {}
  canActivate(): boolean {
    this.transaction.calls.push('guard');
    return true;
  }
}

@Injectable()
class Scoped {
  constructor(
    private readonly transaction: Transaction,
    private readonly moduleRef: ModuleRef,
  ) {}

  @DelayedHandler('scoped')
  @UseGuards(ScopedGuard)
  async handle(_: unknown, message: DelayedMessage): Promise<void> {
    const found = await this.moduleRef.resolve(Transaction, ContextIdFactory.getByRequest(message));
    const { calls } = this.transaction;
    said.push(`scoped: ${calls.join()} ${this.transaction.message === message} ${found === this.transaction}`);
  }
}

@Injectable({ scope: Scope.REQUEST, durable: true })
class DurableTenant {
  #calls = 0;
  constructor(@Inject(REQUEST) private readonly request: { readonly tenant: string }) {}

  @DelayedHandler('durable')
  handle(): void {
    said.push(`durable: ${this.request.tenant} ${++this.#calls}`);
  }
}

const ofTenant = ContextIdFactory.create();
const byTenant: ContextIdStrategy<DelayedMessage> = {
  attach: (contextId, { headers }) => ({
    resolve: ({ isTreeDurable }) => (isTreeDurable ? ofTenant : contextId),
    payload: { tenant: headers.tenant },
  }),
};

@Injectable({ scope: Scope.TRANSIENT })
class Transient {
  #calls = 0;

  @DelayedHandler('transient')
  handle(): void {
    said.push(`transient: ${++this.#calls}`);
  }
}

@Module({
  imports: [DelayQueueModule.forRoot({ store: 'memory', inheritAppConfig: true })],
  controllers: [Orders],
  providers: [
    Shop,
    Enhanced,
    Plain,
    Transaction,
    Scoped,
    DurableTenant,
    Transient,
    { provide: APP_GUARD, useClass: GuardOfAll },
  ],
})
class AppModule {}

/** Has each message settled before the next is offered. */
async function handle(producer: DelayQueueProducer, queue: string): Promise<string> {
  said.push(`--- ${queue}`);
  const { id } = await producer.offer(queue, { count: 1 }, 0, { id: queue, headers: { tenant: 't' } });
  for (;;) {
    const message = await producer.find(queue, id);
    if (!message) return 'gone';
    if (message.state === 'dead' || message.dueAt.getTime() > Date.now() + 60_000) return message.state;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

async function main(): Promise<void> {
  const errors: string[] = [];
  const error = (...words: unknown[]) => void errors.push(String(words.at(-1)));
  const logger = { log: () => undefined, warn: () => undefined, error };
  const app = await NestFactory.createApplicationContext(AppModule, { logger });
  const producer = app.get(DelayQueueProducer);
  const states: Record<string, string> = {};
  const queues = ['enhanced', 'forgiven', 'failed', 'again', 'empty', 'plain', 'denied', 'scoped', 'transient'];
  for (const queue of queues) states[queue] = await handle(producer, queue);
  states.transient = await handle(producer, 'transient');
  ContextIdFactory.apply(byTenant);
  for (const _ of ['first', 'second']) states.durable = await handle(producer, 'durable');
  await app.close();
  console.log(JSON.stringify({ states, said, errors }));
}

void main();
