import { describe, expect, test } from '@jest/globals';
import { Injectable, type Type, UsePipes, ValidationPipe, type ValidationPipeOptions } from '@nestjs/common';
import { IsString } from 'class-validator';
import { DelayedHandler, DelayQueue, type MessageOf, type PayloadOf, RejectMessage } from '../../lib/index.js';
import { Scene } from '../support/scene.js';
import { until } from '../support/until.js';

describe('a payload declared by a DTO class', () => {
  const scene = new Scene();

  class RefundDto {
    @IsString()
    readonly orderId!: string;
  }
  class Refunds extends DelayQueue('refunds', RefundDto, { attempts: 2, backoff: { type: 'fixed', delay: '1h' } }) {}

  const wrong = { orderId: 5 as never };
  const rejecting = { exceptionFactory: () => new RejectMessage('no refund') };

  async function startApp(handler: Type) {
    const { context } = await scene.startApp({ module: { store: 'memory' }, providers: [Refunds, handler] });
    return context.get(Refunds);
  }

  /** Its parameter names the class. */
  function validated(handled: unknown[], options: ValidationPipeOptions = {}): Type {
    @Injectable()
    class Handler {
      @DelayedHandler(Refunds)
      @UsePipes(new ValidationPipe({ transform: true, ...options }))
      refund(refund: RefundDto, { payload: stored }: MessageOf<typeof Refunds>) {
        handled.push(refund, stored);
      }
    }
    return Handler;
  }

  test('is an instance of the class for a handler with a transforming ValidationPipe', async () => {
    const handled: unknown[] = [];
    await (await startApp(validated(handled))).offer({ orderId: 'o' }, 0);
    await until(() => handled.length > 0);
    expect(handled).toEqual([{ orderId: 'o' }, { orderId: 'o' }]);
    expect(handled.map((each) => each instanceof RefundDto)).toEqual([true, false]);
  });

  test('fails the attempt if the pipe refuses it, and is retried', async () => {
    const handled: unknown[] = [];
    const refunds = await startApp(validated(handled));
    await refunds.offer(wrong, 0, { id: 'a' });
    await until(async () => (await refunds.find('a'))?.failedAttempts === 1);
    expect(await refunds.find('a')).toMatchObject({ state: 'delayed' });
    expect(handled).toEqual([]);
  });

  test('becomes a dead letter at once if the pipe throws a RejectMessage for it', async () => {
    const handled: unknown[] = [];
    const refunds = await startApp(validated(handled, rejecting));
    await refunds.offer(wrong, 0, { id: 'a' });
    await until(async () => (await refunds.counts()).dead === 1);
    expect((await refunds.deadLetters().list()).messages).toMatchObject([
      { failedAttempts: 1, error: { message: 'no refund' } },
    ]);
    expect(handled).toEqual([]);
  });

  test('is a plain, unchecked object for a handler without a pipe or with a parameter of another type', async () => {
    const handled: unknown[] = [];
    @Injectable()
    class WithoutPipe {
      @DelayedHandler(Refunds)
      refund(refund: RefundDto) {
        handled.push(refund);
      }
    }
    @Injectable()
    class WithoutClass {
      @DelayedHandler(Refunds)
      @UsePipes(new ValidationPipe({ transform: true }))
      refund(refund: PayloadOf<typeof Refunds>) {
        handled.push(refund);
      }
    }
    for (const handler of [WithoutPipe, WithoutClass]) await (await startApp(handler)).offer(wrong, 0);
    await until(() => handled.length === 2);
    expect(handled).toEqual([wrong, wrong]);
    expect(handled.some((each) => each instanceof RefundDto)).toBe(false);
  });
});
