import 'reflect-metadata';
import { Global, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { calendar } from '../../../lib/calendar/index.js';
import { encryptionWith } from '../../../lib/encryption/encryption.js';
import {
  again,
  DeferMessage,
  DelayedHandler,
  type DelayedMessage,
  DelayQueueModule,
  DelayQueueProducer,
  InjectDelayQueueProducer,
  type QueueOptions,
  RejectMessage,
  RetryMessage,
} from '../../../lib/index.js';
import { LiveLimits } from '../../../lib/limits/live-limits.js';
import { TEST_OVERRIDES } from '../../../lib/runtime/delay-queue-tokens.js';
import type { TestOverrides } from '../../../lib/runtime/workers.js';
import type { MemoryMessageStore } from '../../../lib/store/memory/memory-store.js';
import type { MessageStore } from '../../../lib/store/message-store.js';
import { limitsOfPartition, routerOf } from '../../../lib/runtime/open-queue.js';
import type { Link } from '../network/link.js';
import { remoteDirectory } from '../network/remote-directory.js';
import { type OnLimits, remoteLimits } from '../network/remote-limits.js';
import { remoteWorkerRegistry } from '../network/remote-worker-registry.js';
import { type OnEffect, type OnTransferAnswered, remoteStore } from '../network/remote-store.js';
import type { SimulatedServer } from '../network/server.js';
import type { Subscriptions } from '../network/subscriptions.js';
import type { SimulatedProcess } from '../world/simulated-process.js';
import type { Conduct } from './conduct.js';
import { type QueueKind, type Release, type Scenario, keepsIds, scaled, TYPES, WITH_HISTORY } from './scenario.js';

/** Called with each call of a handler; returns what the handler does with each message. */
export type OnCall = (messages: readonly DelayedMessage[]) => HandlerRun[];

export interface HandlerRun {
  readonly conduct: Conduct;
  /** The handler has kept the event loop busy for as long as it does. */
  spun(): void;
  /** The handler is done. */
  ended(): void;
}

export interface ApplicationParts {
  readonly process: SimulatedProcess;
  readonly release: Release;
  readonly scenario: Scenario;
  readonly server: SimulatedServer;
  readonly link: Link;
  readonly subscriptions: Subscriptions;
  readonly onEffect: OnEffect;
  readonly onTransferAnswered: OnTransferAnswered;
  readonly onCall: OnCall;
  readonly onLimits: OnLimits;
  /** Called with each registration of a queue that takes effect. */
  readonly onRegistered: (queue: string) => void;
  /** Called with a call of a handler that has messages of several groups, though it must not. */
  readonly onMixed: (id: string) => void;
  /** Called with what the library logs as an error that no fault explains. */
  readonly onEvent: (name: string, fields: object) => void;
}

/** An application in one process. */
export interface Application {
  readonly producer: DelayQueueProducer;
  /** Of another instance of the module, with queues of its own. */
  readonly other: DelayQueueProducer;
  close(): Promise<void>;
}

/** The queues whose limits change while they run. */
const CHANGING = new Set(['rated', 'limited']);

/** The name of the second instance, which has the queue `other`. */
const OTHER = 'other';

/** Starts a real application. Its start takes no virtual time but that of its calls. */
export async function startApplication(parts: ApplicationParts): Promise<Application> {
  const { scenario, release } = parts;
  const { lease, checkInterval, blockTimeout, attempts, retryDelay, partitions, rate } = scenario;
  const has = (kind: string) => scenario.queues.some((queue) => queue.kind === kind);
  const common = (kind: QueueKind) => ({
    ...{ lease, checkInterval, blockTimeout, attempts },
    concurrency: scaled(scenario.queues.find((queue) => queue.kind === kind)?.concurrency ?? 1, release),
    backoff: { type: 'fixed' as const, delay: retryDelay },
    ...(WITH_HISTORY.includes(kind) && { history: { for: '1h', max: 500, payloads: true } }),
    ...(scenario.idsFor && keepsIds({ kind }, scenario) && { idsFor: scenario.idsFor }),
  });
  const { batch, batchWait, expiresAfter, onExpired } = scenario;
  const paced = scenario.queues.find(({ kind }) => kind === 'paced');
  const batchExpiresAfter = scenario.queues.find(({ kind }) => kind === 'batches')?.expiresAfter ?? null;
  const globalConcurrency = scenario.queues.find(({ kind }) => kind === 'limited')?.globalConcurrency;
  const batchExpiry = batchExpiresAfter === null ? {} : { expiresAfter: batchExpiresAfter, onExpired };
  const { process, onCall } = parts;
  const handle = (_payload: unknown, message: DelayedMessage) => runHandler(process, onCall([message])[0]!);
  const handleAll = (_payloads: readonly unknown[], messages: readonly DelayedMessage[]) => {
    const runs = onCall(messages);
    return Promise.allSettled(runs.map((run) => Promise.resolve(run).then((each) => runHandler(process, each))));
  };

  @Injectable()
  class Handlers {
    @DelayedHandler('plain', { ...common('plain'), partitions })
    plain(payload: unknown, message: DelayedMessage) {
      return handle(payload, message);
    }
  }

  @Injectable()
  class Expiring {
    @DelayedHandler('expiring', { ...common('expiring'), expiresAfter, onExpired })
    handle(payload: unknown, message: DelayedMessage) {
      return handle(payload, message);
    }
  }

  @Injectable()
  class Ordered {
    @DelayedHandler('ordered', { ...common('ordered'), groups: { concurrency: 1, onRetry: 'hold' } })
    handle(payload: unknown, message: DelayedMessage) {
      return handle(payload, message);
    }
  }

  @Injectable()
  class Shared {
    @DelayedHandler('shared', { ...common('shared'), groups: { concurrency: 3, onRetry: 'pass' } })
    handle(payload: unknown, message: DelayedMessage) {
      return handle(payload, message);
    }
  }

  @Injectable()
  class Batches {
    @DelayedHandler('batches', { ...common('batches'), batch, batchWait, partitions, ...batchExpiry })
    handle(payloads: readonly unknown[], messages: readonly DelayedMessage[]) {
      return handleAll(payloads, messages);
    }
  }

  @Injectable()
  class Crews {
    @DelayedHandler('crews', {
      ...common('crews'),
      ...{ batch, batchWait, batchPerGroup: true },
      groups: { concurrency: 3, onRetry: 'pass' },
    })
    handle(payloads: readonly unknown[], messages: readonly DelayedMessage[]) {
      const stranger = messages.find(({ group }) => group !== messages[0]!.group);
      if (stranger) parts.onMixed(stranger.id);
      return handleAll(payloads, messages);
    }
  }

  @Injectable()
  class Paced {
    @DelayedHandler('paced', {
      ...common('paced'),
      groups: { concurrency: paced?.permits ?? 1, onRetry: 'hold', rate: paced?.groupRate ?? 'unlimited' },
    })
    handle(payload: unknown, message: DelayedMessage) {
      return handle(payload, message);
    }
  }

  @Injectable()
  class Rated {
    @DelayedHandler('rated', { ...common('rated'), rate })
    handle(payload: unknown, message: DelayedMessage) {
      return handle(payload, message);
    }
  }

  @Injectable()
  class Limited {
    @DelayedHandler('limited', { ...common('limited'), globalConcurrency: globalConcurrency ?? 'unlimited' })
    handle(payload: unknown, message: DelayedMessage) {
      return handle(payload, message);
    }
  }

  @Injectable()
  class Repeats {
    @DelayedHandler('repeats', common('repeats'))
    handle(payload: unknown, message: DelayedMessage) {
      return handle(payload, message);
    }
  }

  @Injectable()
  class Tenants {
    @DelayedHandler('tenant-*', common('tenant'))
    handle(payload: unknown, message: DelayedMessage) {
      return handle(payload, message);
    }
  }

  @Injectable()
  class Typed {
    @DelayedHandler('typed', TYPES[0])
    handle(payload: unknown, message: DelayedMessage) {
      return handle(payload, message);
    }
  }

  @Injectable()
  class NewlyTyped {
    @DelayedHandler('typed', TYPES[1])
    handle(payload: unknown, message: DelayedMessage) {
      return handle(payload, message);
    }
  }

  @Injectable()
  class Other {
    @DelayedHandler('other', { ...common('other'), instance: OTHER })
    handle(payload: unknown, message: DelayedMessage) {
      return handle(payload, message);
    }
  }

  @Injectable()
  class Producers {
    constructor(
      readonly producer: DelayQueueProducer,
      @InjectDelayQueueProducer(OTHER) readonly other: DelayQueueProducer,
    ) {}
  }

  @Global()
  @Module({ providers: [{ provide: TEST_OVERRIDES, useValue: overridesOf(parts) }], exports: [TEST_OVERRIDES] })
  class SimulationModule {}

  const kinds = { expiring: Expiring, ordered: Ordered, shared: Shared, batches: Batches, crews: Crews };
  const others = {
    paced: Paced,
    rated: Rated,
    limited: Limited,
    repeats: Repeats,
    tenant: Tenants,
    typed: Typed,
    other: Other,
  };
  const used = Object.entries({ ...kinds, ...others }).filter(([kind]) => has(kind));
  const { callTimeout: offerTimeout, shutdownTimeout } = scenario;
  const queues: Record<string, QueueOptions> = has('typed') ? { typed: common('typed') } : {};
  const defaults = scenario.isEncrypted ? { encryption: encryptionOf(parts) } : {};
  const options = { store: 'memory', offerTimeout, shutdownTimeout, calendar, defaults, queues } as const;

  @Module({
    imports: [
      SimulationModule,
      DelayQueueModule.forRoot(options),
      DelayQueueModule.forRoot({ ...options, name: OTHER }),
    ],
    providers: [
      ...[Handlers, Producers, ...used.map(([, provider]) => provider)],
      ...(release === 1 && has('typed') ? [NewlyTyped] : []),
    ],
  })
  class ApplicationModule {}

  const application = await NestFactory.createApplicationContext(ApplicationModule, {
    logger: false,
    abortOnError: false,
  });
  const { producer, other } = application.get(Producers);
  return { producer, other, close: () => application.close() };
}

const KEYS = { old: Buffer.alloc(32, 1), new: Buffer.alloc(32, 2) };

/** Nonces are drawn, so that two runs of a seed are equal. */
function encryptionOf({ process, release }: ApplicationParts) {
  const current = release === 0 ? 'old' : 'new';
  const randomBytes = (size: number) =>
    Buffer.from(Array.from({ length: size }, () => Math.floor(process.random() * 256)));
  return encryptionWith({ current, keys: KEYS }, randomBytes);
}

/** The stack of an error is most of what it costs. */
const UNLUCKY = new Error('unlucky');

function runHandler(process: SimulatedProcess, { conduct, spun, ended }: HandlerRun): unknown {
  const { takes, until } = conduct;
  const spins = conduct.spins + process.nextHandlerSpins;
  process.nextHandlerSpins = 0;
  const end = () => {
    ended();
    return endOf(conduct);
  };
  if (spins > 0) {
    process.spend(spins);
    spun();
  }
  if (until) return until.then(end);
  if (takes === 0) return end();
  return new Promise((resolve) => process.clock.schedule(() => resolve(undefined), takes)).then(end);
}

function endOf({ end, delay }: Conduct): unknown {
  if (end === 'throw') throw UNLUCKY;
  if (end === 'retry') throw new RetryMessage(delay);
  if (end === 'reject') throw new RejectMessage('unwanted');
  if (end === 'defer') throw new DeferMessage(delay);
  return end === 'again' ? again(delay) : undefined;
}

function overridesOf(parts: ApplicationParts): TestOverrides {
  const { process, server, link, subscriptions, onEffect, onTransferAnswered, onLimits, onRegistered, onEvent } = parts;
  const remotes = new Map<object, MessageStore>();
  const remoteOf = (queue: string, store: MemoryMessageStore, limits?: LiveLimits) => {
    let remote = remotes.get(store);
    if (!remote) {
      const served = server.servedStore(store);
      remote = remoteStore({ queue, store: served, link, subscriptions, onEffect, onTransferAnswered, limits });
      remotes.set(store, remote);
    }
    return remote;
  };
  return {
    clock: process.clock,
    random: process.random,
    adjust: (handler) => handler,
    openStores: (instance, events) => {
      for (const name of ['lease-lost', 'repaired'] as const) events.on(name, (fields) => onEvent(name, fields));
      const limits = remoteLimits({ server, instance, link, onLimits });
      return {
        connect: () => undefined,
        check: () => Promise.resolve(),
        get isConnected() {
          return !link.isDown;
        },
        open: (queue, options) => {
          const { partitions, groups } = server.open(instance, queue, options);
          const { checkInterval } = options;
          const live = CHANGING.has(queue)
            ? new LiveLimits(limitsOfPartition(options), limits, {
                queue,
                partitions: options.partitions,
                checkInterval,
              })
            : undefined;
          const remote = partitions.map((store) => remoteOf(queue, store, live));
          return routerOf({ partitions: remote, groups: groups && remoteOf(queue, groups) });
        },
        directory: remoteDirectory({ directory: server.directoryOf(instance), link, subscriptions, onRegistered }),
        limits,
        workerRegistry: remoteWorkerRegistry({ registry: server.registryOf(instance), link }),
        started: () => undefined,
        addresses: () => Promise.resolve(['simulated']),
        failFast: () => undefined,
        close: () => {
          limits.stop();
          return Promise.resolve();
        },
      };
    },
  };
}
