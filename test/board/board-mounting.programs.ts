import { afterEach, describe, expect, test } from '@jest/globals';
import {
  type ArgumentsHost,
  type CallHandler,
  type CanActivate,
  Catch,
  Controller,
  type ExceptionFilter,
  Get,
  type INestApplication,
  type NestInterceptor,
  type PipeTransform,
  VersioningType,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { DelayQueueModule } from 'nestjs-delay-queue';
import type { ConfigView, MessageView, QueueListView } from 'nestjs-delay-queue-board';
import {
  FRAMEWORKS,
  type PageApplication,
  type PageApplicationSettings,
  startPageApplication,
} from '../support/board/page-application.js';
import { PageClient } from '../support/board/page-client.js';
import { Scene } from '../support/scene.js';

const touched: string[] = [];

class GlobalGuard implements CanActivate {
  canActivate(): boolean {
    touched.push('guard');
    return false;
  }
}

class GlobalInterceptor implements NestInterceptor {
  intercept(_: unknown, next: CallHandler) {
    touched.push('interceptor');
    return next.handle();
  }
}

class GlobalPipe implements PipeTransform {
  transform(): never {
    touched.push('pipe');
    throw new Error('The pipe accepts nothing.');
  }
}

@Catch()
class GlobalFilter implements ExceptionFilter {
  catch(_: unknown, host: ArgumentsHost): void {
    touched.push('filter');
    const response = host.switchToHttp().getResponse<{ status(code: number): { send(body: string): void } }>();
    response.status(418).send('filtered');
  }
}

/** Answers everything, as the page of the application itself may. */
const all = (path: string) => {
  @Controller()
  class CatchAll {
    @Get(path)
    all(): string {
      touched.push('controller');
      return 'the application';
    }
  }
  return CatchAll;
};

const enhancers = [
  { provide: APP_GUARD, useClass: GlobalGuard },
  { provide: APP_INTERCEPTOR, useClass: GlobalInterceptor },
  { provide: APP_PIPE, useClass: GlobalPipe },
  { provide: APP_FILTER, useClass: GlobalFilter },
];

const apps: PageApplication[] = [];

describe.each(FRAMEWORKS)('the board on %s', (framework) => {
  const CatchAll = all(framework === 'Express' ? '*path' : '*');
  const scene = new Scene();

  afterEach(async () => {
    await Promise.all(apps.splice(0).map((app) => app.close()));
    touched.length = 0;
  });

  async function start(settings: PageApplicationSettings = {}): Promise<PageApplication> {
    const { url: connection, prefix } = scene;
    const imports = [
      DelayQueueModule.forRoot({ connection, prefix }),
      DelayQueueModule.forRoot({ name: 'billing', connection, prefix: `${prefix}:billing` }),
    ];
    const app = await startPageApplication({ framework, ...settings, parts: { imports, ...settings.parts } });
    apps.push(app);
    return app;
  }

  /** Checks the page, a read and a change. */
  async function expectToWork({ board, producer }: PageApplication): Promise<void> {
    const queue = scene.newQueue();
    await producer.offer(queue, { n: 1 }, '1h', { id: 'a' });
    expect(await board.send('/')).toMatchObject({
      status: 200,
      headers: { 'content-type': 'text/html; charset=utf-8' },
    });
    expect(await board.get<ConfigView>('config')).toMatchObject({
      status: 200,
      body: { instances: ['-', 'billing'], readOnly: false, mayChange: true, isGuarded: false, redacted: false },
    });
    const changed = await board.post(`i/-/queues/${queue}/messages/a/change`, { payload: { n: 2 } });
    expect(changed).toMatchObject({ status: 200, body: { changed: true } });
    const { body } = await board.get<MessageView>(`i/-/queues/${queue}/messages/a`);
    expect(body).toMatchObject({ id: 'a', state: 'delayed', payload: { kind: 'json', value: { n: 2 } } });
  }

  test('works in two lines', async () => {
    await expectToWork(await start());
  });

  test('is not touched by global enhancers, a prefix, versioning or a route for everything', async () => {
    const prepare = (app: INestApplication) => {
      app.setGlobalPrefix('v');
      app.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' });
    };
    const app = await start({ parts: { controllers: [CatchAll], providers: enhancers }, prepare });
    await expectToWork(app);
    expect((await app.board.get('nothing')).body).toMatchObject({ error: { code: 'NOT_FOUND' } });
    expect(touched).toEqual([]);
    const other = new PageClient(new URL('/v/v1/x', app.board.url).href);
    expect((await other.send('')).status).toBe(418);
  });

  test.each([VersioningType.HEADER, VersioningType.MEDIA_TYPE] as const)(
    'works with versioning of type %s',
    async (type) => {
      const prepare = (app: INestApplication) => {
        app.enableVersioning({ type, header: 'x-version', key: 'v=', defaultVersion: '1' });
      };
      await expectToWork(await start({ parts: { controllers: [CatchAll] }, prepare }));
    },
  );

  test.each([
    ['without body parsers', { bodyParser: false }],
    ['with raw bodies', { rawBody: true }],
    ['with CORS for everybody', { cors: true }],
  ])('works %s', async (_, create) => {
    const app = await start({ create });
    await expectToWork(app);
    const { headers } = await app.board.send('/api/config', { headers: { origin: 'https://evil.example' } });
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  test('accepts a body up to 1 MiB, whatever the limit of the application', async () => {
    const { board, producer } = await start();
    const queue = scene.newQueue();
    await producer.offer(queue, {}, '1h', { id: 'a' });
    const change = (size: number) => board.post(`i/-/queues/${queue}/messages/a/change`, { payload: 'x'.repeat(size) });
    expect(await change(200_000)).toMatchObject({ status: 200, body: { changed: true } });
    expect(await change(1_100_000)).toMatchObject({ status: 413, body: { error: { code: 'BODY_TOO_LARGE' } } });
    const broken = await board.post(`i/-/queues/${queue}/messages/a/reschedule`, '{"due":');
    expect(broken).toMatchObject({
      status: 400,
      body: { error: { code: 'BAD_REQUEST', message: 'The body is not JSON.' } },
    });
  });

  test('leads from its bare path to the one with a slash, by a relative link', async () => {
    const { board } = await start({ board: { path: '/ops/queues' } });
    expect(await board.send('?x=1')).toMatchObject({ status: 302, headers: { location: 'queues/?x=1' } });
    expect((await board.send('/')).status).toBe(200);
  });

  test('shows each instance, or only some', async () => {
    const { board, app } = await start({ board: { instances: ['billing'] } });
    const queue = scene.newQueue();
    const billing = app.get<PageApplication['producer']>('DelayQueueProducer:billing');
    await billing.offer(queue, {}, '1h');
    expect((await board.get<ConfigView>('config')).body.instances).toEqual(['billing']);
    const { body } = await board.get<QueueListView>(`i/billing/queues?prefix=${queue}`);
    expect(body.queues).toMatchObject([{ name: queue, delayed: 1 }]);
    expect(await board.get('i/-/queues')).toMatchObject({ status: 404, body: { error: { code: 'NOT_FOUND' } } });
  });

  test('refuses an instance that cannot be told from the one without a name', async () => {
    const { url: connection, prefix } = scene;
    const imports = [
      DelayQueueModule.forRoot({ connection, prefix }),
      DelayQueueModule.forRoot({ name: '-', connection, prefix: `${prefix}:other` }),
    ];
    await expect(start({ parts: { imports } })).rejects.toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringContaining("the instance '-'") }),
    );
  });

  test('ends an open stream when the application closes', async () => {
    const app = await start();
    const stream = await app.board.events(`i/-/events?queues=${scene.newQueue()}`);
    const before = performance.now();
    await app.close();
    await stream.ended;
    expect(performance.now() - before).toBeLessThan(5000);
  });
});
