import type { DynamicModule, INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasCode } from '../../../lib/message/failure.js';

/** The pause before the supervisor tries again, ms. */
const PAUSE = 300;

/** Starts an application, and tries again while its Redis user lacks a permission, as a supervisor would. */
export async function startSupervised(root: () => DynamicModule): Promise<INestApplicationContext> {
  for (;;) {
    try {
      return await NestFactory.createApplicationContext(root(), { logger: ['error', 'warn'], abortOnError: false });
    } catch (error) {
      if (!hasCode(error, 'MISSING_PERMISSION')) throw error;
      await sleep(PAUSE);
    }
  }
}
