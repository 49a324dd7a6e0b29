import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  DelayQueueError,
  type DelayQueueEvent,
  DelayQueueModule,
  type DelayQueueModuleOptions,
  DelayQueueProducer,
} from 'nestjs-delay-queue';
import { DelayQueueInspector, type InspectedQueue } from 'nestjs-delay-queue/diagnosis';
import { DelayQueueExporter } from 'nestjs-delay-queue/export';

class CommandLineModule {}

/** A delay queue that only offers and reads, for one command. */
export class Session {
  private constructor(private readonly context: INestApplicationContext) {}

  /**
   * @param server - its name in errors
   * @throws DelayQueueError `NOT_CONNECTED` with the reason, and what the start of an application throws
   */
  static async open(options: DelayQueueModuleOptions, server: string): Promise<Session> {
    const outage = new Outage();
    const imports = [DelayQueueModule.forRoot({ ...options, observers: [outage] })];
    const context = await NestFactory.createApplicationContext(
      { module: CommandLineModule, imports, providers: [DelayQueueInspector, DelayQueueExporter] },
      { logger: false, abortOnError: false },
    );
    // A cluster with a failed shard can still be inspected.
    if (outage.lasts && !context.get(DelayQueueInspector).isConnected) {
      await context.close();
      throw unreachable(server, outage.reason);
    }
    return new Session(context);
  }

  get producer(): DelayQueueProducer {
    return this.context.get(DelayQueueProducer, { strict: false });
  }

  get exporter(): DelayQueueExporter {
    return this.context.get(DelayQueueExporter);
  }

  inspect(queue: string): Promise<InspectedQueue> {
    return this.context.get(DelayQueueInspector).inspect(queue);
  }

  /** Does not wait, because nothing is handled here. */
  close(): Promise<void> {
    return this.context.close();
  }
}

/** Notices that there is no connection at the start, and why. An application would wait for Redis; a person would not. */
class Outage {
  lasts = false;
  reason = '';

  event(event: DelayQueueEvent): void {
    if (event.name === 'connection-lost') {
      this.lasts = true;
      this.reason = event.reason;
    } else if (event.name === 'connection-restored') {
      this.lasts = false;
    }
  }
}

function unreachable(server: string, reason: string): DelayQueueError {
  const problem = `Redis at ${server} cannot be reached${reason && ` (${reason.replace(/^Error: /, '')})`}: nothing was changed`;
  return new DelayQueueError('NOT_CONNECTED', `${problem}. Check --url or REDIS_URL, and that Redis is up.`);
}
