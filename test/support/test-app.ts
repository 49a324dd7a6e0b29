import {
  type DynamicModule,
  type INestApplicationContext,
  Injectable,
  type LoggerService,
  type ModuleMetadata,
  type Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  DelayedHandler,
  type DelayedMessage,
  DelayQueueModule,
  type DelayQueueModuleOptions,
  DelayQueueProducer,
  type QueueOptions,
} from '../../lib/index.js';

/** Options of the application itself. */
type AppOptions = NonNullable<Parameters<typeof NestFactory.createApplicationContext>[1]>;

/** The parts of an application besides the delay queue. */
export type TestAppParts = Pick<ModuleMetadata, 'imports' | 'providers' | 'controllers'>;

/** A running application. */
export interface TestApp {
  readonly context: INestApplicationContext;
  readonly producer: DelayQueueProducer;
  /** Its log, without the lines of Nest itself. */
  readonly log: readonly string[];
  /** The stacks that it logged. */
  readonly stacks: readonly string[];
  close(): Promise<void>;
}

class RootModule {}

/** Starts an application of one module; rejects if startup fails. */
export async function startTestApp(options: DelayQueueModuleOptions, parts: TestAppParts = {}): Promise<TestApp> {
  const { imports = [], ...others } = parts;
  return startRoot({ module: RootModule, imports: [DelayQueueModule.forRoot(options), ...imports], ...others });
}

/** Starts an application from its root module. */
export async function startRoot(root: Type | DynamicModule, options: AppOptions = {}): Promise<TestApp> {
  const logger = new RecordingLogger();
  const context = await NestFactory.createApplicationContext(root, { ...options, logger, abortOnError: false });
  let closing: Promise<void> | undefined;
  return {
    context,
    producer: context.get(DelayQueueProducer, { strict: false }),
    log: logger.lines,
    stacks: logger.stacks,
    close: () => (closing ??= context.close()),
  };
}

/** A provider with one handler. */
export function handlerOf<T>(
  queue: string,
  handle: (payload: T, message: DelayedMessage<T>) => unknown,
  options?: QueueOptions,
): Type {
  @Injectable()
  class TestHandler {
    @DelayedHandler(queue, options)
    handle(payload: T, message: DelayedMessage<T>): unknown {
      return handle(payload, message);
    }
  }
  return TestHandler;
}

class RecordingLogger implements LoggerService {
  readonly lines: string[] = [];
  readonly stacks: string[] = [];

  log(message: unknown, ...more: unknown[]): void {
    this.#add('log', message, more);
  }
  warn(message: unknown, ...more: unknown[]): void {
    this.#add('warn', message, more);
  }
  error(message: unknown, ...more: unknown[]): void {
    this.#add('error', message, more);
    if (more.length > 1) this.stacks.push(String(more[0]));
  }

  #add(level: string, message: unknown, more: unknown[]): void {
    if (String(more.at(-1)).startsWith('DelayQueue')) this.lines.push(`${level} ${String(message)}`);
  }
}
