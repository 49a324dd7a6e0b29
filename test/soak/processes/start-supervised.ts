import type { DynamicModule, INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { setTimeout as sleep } from 'node:timers/promises';
import { DelayQueueError } from '../../../lib/index.js';

/** The pause before the supervisor tries again, ms. */
const PAUSE = 300;

/** Starts an application, and tries again while its Redis user lacks a permission, as a supervisor would. */
export async function startSupervised(root: () => DynamicModule): Promise<INestApplicationContext> {
  for (;;) {
    try {
      return await NestFactory.createApplicationContext(root(), { logger: ['error', 'warn'], abortOnError: false });
    } catch (error) {
      if (!(error instanceof DelayQueueError && error.code === 'MISSING_PERMISSION')) throw error;
      await sleep(PAUSE);
    }
  }
}
