import { afterEach, describe, expect, test } from '@jest/globals';
import {
  type CanActivate,
  type ExecutionContext,
  HttpException,
  Inject,
  Injectable,
  Module,
  Scope,
  UnauthorizedException,
} from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { DelayQueueModule } from 'nestjs-delay-queue';
import {
  type BoardChange,
  type ConfigView,
  DelayQueueBoard,
  DelayQueueBoardModule,
  type HandledListView,
  type MessageListView,
  type MessageView,
} from 'nestjs-delay-queue-board';
import { of } from 'rxjs';
import {
  FRAMEWORKS,
  type PageApplication,
  type PageApplicationSettings,
  startPageApplication,
} from '../support/board/page-application.js';
import { Scene } from '../support/scene.js';
import { handlerOf } from '../support/test-app.js';
import { until } from '../support/until.js';

@Injectable()
class Sessions {
  readonly open = new Set(['1']);
}

@Module({ providers: [Sessions], exports: [Sessions] })
class SessionModule {}

const kinds: string[] = [];

/** The part of a request that Express and Fastify share. */
interface AnyRequest {
  readonly headers: Readonly<Record<string, string | undefined>>;
}

const cookieOf = ({ headers }: AnyRequest) => /session=(\w+)/.exec(headers.cookie ?? '')?.[1] ?? '';

@Injectable()
class SessionGuard implements CanActivate {
  constructor(private readonly sessions: Sessions) {}

  canActivate(context: ExecutionContext): boolean {
    expect(context.getType()).toBe('http');
    expect(context.getClass()).toBe(DelayQueueBoard);
    kinds.push(context.getHandler().name);
    if (this.sessions.open.has(cookieOf(context.switchToHttp().getRequest()))) return true;
    throw new UnauthorizedException('Log in first.');
  }
}

@Injectable({ scope: Scope.REQUEST })
class RequestGuard implements CanActivate {
  @Inject(REQUEST) private readonly request!: AnyRequest;

  canActivate(): boolean {
    return this.request.headers['x-pass'] === '1';
  }
}

const passing = (result: ReturnType<CanActivate['canActivate']>) => ({ canActivate: () => result });

const apps: PageApplication[] = [];

describe.each(FRAMEWORKS)('the board on %s', (framework) => {
  const scene = new Scene();

  afterEach(async () => {
    await Promise.all(apps.splice(0).map((app) => app.close()));
    kinds.length = 0;
  });

  async function start(
    board: PageApplicationSettings['board'],
    more: PageApplicationSettings = {},
  ): Promise<PageApplication> {
    const imports = [DelayQueueModule.forRoot({ connection: scene.url, prefix: scene.prefix })];
    const app = await startPageApplication({ framework, board: board!, ...more, parts: { imports, ...more.parts } });
    apps.push(app);
    return app;
  }

  /** A queue with the delayed message `a`, and the path to change it. */
  async function offerOne({ producer }: PageApplication, payload: unknown = {}) {
    const queue = scene.newQueue();
    await producer.offer(queue, payload, '1h', { id: 'a', headers: { tenant: 'acme' } });
    return { queue, path: `i/-/queues/${queue}/messages/a` };
  }

  describe('without guards', () => {
    test.each(['localhost', 'LOCALHOST:3000', '127.0.0.1:80', '[::1]:8080'])('serves the host %s', async (host) => {
      const { board, log } = await start({});
      expect((await board.with({ host }).get('config')).status).toBe(200);
      expect(log.join('\n')).toContain('The board has no guards: it serves requests from this machine only.');
    });

    test.each([
      { host: 'evil.example' },
      { host: 'localhost.evil.example' },
      { host: '127.0.0.1.nip.io' },
      { forwarded: 'for=10.0.0.1' },
      { 'x-forwarded-for': '127.0.0.1' },
      { 'x-forwarded-proto': 'https' },
      { 'x-forwarded-host': 'localhost' },
      { 'x-real-ip': '127.0.0.1' },
      { via: '1.1 proxy' },
    ])('refuses what does not come from this machine: %j', async (headers) => {
      const app = await start({});
      const { queue, path } = await offerOne(app);
      const board = app.board.with(headers as unknown as Record<string, string>);
      for (const url of ['/', '/assets/x.js', '/api/config', '/api/nothing', `/api/i/-/events?queues=${queue}`]) {
        expect(await board.send(url)).toMatchObject({ status: 403, body: { error: { code: 'LOCAL_ONLY' } } });
      }
      expect((await board.post(`${path}/cancel`)).status).toBe(403);
      expect(await app.producer.find(queue, 'a')).not.toBeNull();
    });
  });

  describe('with guards', () => {
    test('asks them for the page, its files, the API and the events, and tells them which', async () => {
      const { board, producer } = await start({ guards: [SessionGuard], imports: [SessionModule] });
      const requests = ['/', '/assets/x.js', '/api/config', '/api/nothing', '/api/i/-/events?queues=orders'];
      for (const url of requests) {
        expect(await board.send(url)).toMatchObject({
          status: 401,
          body: { error: { code: 'UNAUTHENTICATED', message: 'Log in first.' } },
        });
      }
      const queue = scene.newQueue();
      await producer.offer(queue, {}, '1h', { id: 'a' });
      expect((await board.post(`i/-/queues/${queue}/messages/a/cancel`)).status).toBe(401);
      expect(kinds).toEqual(['page', 'page', 'read', 'read', 'events', 'change']);
      const inside = board.with({ cookie: 'session=1', host: 'board.example', 'x-forwarded-for': '10.0.0.1' });
      expect((await inside.get<ConfigView>('config')).body).toMatchObject({ isGuarded: true });
      expect((await inside.send('/')).status).toBe(200);
    });

    test.each([
      ['a promise', Promise.resolve(true), 200],
      ['an observable', of(true), 200],
      ['a refused promise', Promise.resolve(false), 403],
      ['a refused observable', of(false), 403],
      ['an empty observable', of(), 403],
      ['something else', 'yes' as unknown as boolean, 403],
    ])('understands %s', async (_, result, status) => {
      const { board } = await start({ guards: [passing(result)] });
      expect((await board.get('config')).status).toBe(status);
    });

    test('needs all of them', async () => {
      const { board } = await start({ guards: [passing(true), passing(false)] });
      expect((await board.get('config')).status).toBe(403);
    });

    test('accepts guards of a request, guards that throw, and guards that answer', async () => {
      const redirecting = {
        canActivate: (context: ExecutionContext) => {
          const { query } = context.switchToHttp().getRequest<{ query: { login?: string } }>();
          if (query.login === undefined) return true;
          const response = context.switchToHttp().getResponse<{ redirect(url: string): void }>();
          response.redirect('/login');
          return false;
        },
      };
      const throwing = {
        canActivate: (context: ExecutionContext) => {
          const { query } = context.switchToHttp().getRequest<{ query: { fail?: string } }>();
          if (query.fail === 'http') throw new HttpException('Too many requests', 429);
          if (query.fail === 'bug') throw new Error('secret');
          return true;
        },
      };
      const { board, log } = await start(
        { guards: [redirecting, throwing, RequestGuard] },
        { parts: { imports: [DelayQueueModule.forRoot({ connection: scene.url })], providers: [RequestGuard] } },
      );
      expect((await board.get('config')).status).toBe(403);
      expect((await board.with({ 'x-pass': '1' }).get('config')).status).toBe(200);
      expect(await board.send('/?login=1')).toMatchObject({ status: 302, headers: { location: '/login' } });
      expect(await board.send('/?fail=http')).toMatchObject({ status: 429, body: { error: { code: 'TOO_MANY' } } });
      const broken = await board.send('/?fail=bug');
      expect(broken).toMatchObject({ status: 500, body: { error: { code: 'INTERNAL' } } });
      expect(broken.text).not.toContain('secret');
      expect(log.join('\n')).toContain('secret');
    });

    test('fails to start if Nest cannot create a guard', async () => {
      await expect(start({ guards: [SessionGuard] })).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        message: expect.stringContaining('guards: Nest cannot create SessionGuard'),
      });
    });
  });

  describe('changes', () => {
    const own = { 'x-delay-queue-board': '1' };

    test.each([
      ['no header of its own', { 'x-delay-queue-board': undefined }],
      ['another value of it', { 'x-delay-queue-board': '2' }],
      ['no Origin', { origin: undefined }],
      ['the Origin of a sandbox', { origin: 'null' }],
      ['another site', { origin: 'https://evil.example' }],
      ['another port', { origin: 'http://127.0.0.1:1' }],
      ['another name of this machine', { origin: 'http://localhost' }],
      ['a longer name', { origin: `http://127.0.0.1.evil.example` }],
      ['what the browser calls another site', { 'sec-fetch-site': 'same-site' }],
    ])('are refused with %s', async (_, broken) => {
      const app = await start({});
      const { queue, path } = await offerOne(app);
      const given = { origin: app.board.origin, ...own, ...broken };
      const headers = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Record<
        string,
        string
      >;
      const ofQueue = ['pause', 'jobs', 'groups/acme/pause', 'groups/acme/resume', 'groups/acme/concurrency'];
      const changes = [`${path}/cancel`, `${path}/deliver`, ...ofQueue.map((each) => `i/-/queues/${queue}/${each}`)];
      for (const url of changes) {
        expect(await app.board.send(`/api/${url}`, { method: 'POST', headers, body: {} })).toMatchObject({
          status: 403,
          body: { error: { code: 'FOREIGN_ORIGIN' } },
        });
      }
      expect(await app.producer.status(queue)).toMatchObject({ delayed: 1, isPaused: false });
    });

    test('are accepted from the board itself, also behind a proxy that ends HTTPS and keeps the Host', async () => {
      const app = await start({ guards: [passing(true)] });
      const { path } = await offerOne(app);
      const behind = app.board.with({ host: 'board.example', ...own });
      const send = (origin: string) => behind.send(`/api/${path}/deliver`, { method: 'POST', headers: { origin } });
      expect(await send('https://board.example')).toMatchObject({ status: 200, body: { changed: true } });
      expect((await send('https://board.example:8443')).status).toBe(403);
      expect((await send('https://other.example')).status).toBe(403);
    });

    test.each([true, false])(
      'take the forwarded host for their own only if the proxy is trusted: %s',
      async (trustsProxy) => {
        const app = await start({ guards: [passing(true)] }, { trustsProxy });
        const { path } = await offerOne(app);
        const headers = { 'x-forwarded-host': 'board.example', 'x-forwarded-proto': 'https', ...own };
        const send = (origin: string) =>
          app.board.with(headers).send(`/api/${path}/deliver`, { method: 'POST', headers: { origin } });
        expect((await send('https://board.example')).status).toBe(trustsProxy ? 200 : 403);
        // A page on plain HTTP must not change a board on HTTPS.
        expect((await send('http://board.example')).status).toBe(403);
      },
    );

    test('are refused on a read-only board, and where `mayChange` says so', async () => {
      const readOnly = await start({ readOnly: true });
      const one = await offerOne(readOnly);
      expect(await readOnly.board.post(`${one.path}/cancel`)).toMatchObject({
        status: 403,
        body: { error: { code: 'READ_ONLY' } },
      });
      expect((await readOnly.board.get<ConfigView>('config')).body).toMatchObject({ readOnly: true, mayChange: false });

      const mayChange = (request: AnyRequest) => Promise.resolve(request.headers['x-role'] === 'admin');
      const some = await start({ mayChange });
      const other = await offerOne(some);
      expect(await some.board.post(`${other.path}/cancel`)).toMatchObject({
        status: 403,
        body: { error: { code: 'FORBIDDEN' } },
      });
      expect((await some.board.get<ConfigView>('config')).body).toMatchObject({ readOnly: false, mayChange: false });
      const admin = some.board.with({ 'x-role': 'admin' });
      expect((await admin.get<ConfigView>('config')).body).toMatchObject({ mayChange: true });
      expect(await admin.post(`${other.path}/cancel`)).toMatchObject({ status: 200, body: { changed: true } });
      expect(await readOnly.producer.find(one.queue, 'a')).not.toBeNull();
      for (const board of [readOnly.board, some.board]) {
        const ofGroup = ['pause', 'resume', 'concurrency'].map((each) => `i/-/queues/${one.queue}/groups/acme/${each}`);
        for (const url of ofGroup) expect((await board.post(url, { concurrency: 1 })).status).toBe(403);
      }
    });

    test('are logged and reported with who made them', async () => {
      const changes: BoardChange[] = [];
      const who = (request: AnyRequest) => `${cookieOf(request)}\nFAKE LINE`;
      const onChange = (change: BoardChange) => {
        changes.push(change);
        throw new Error('The audit is down.');
      };
      const app = await start({ who, onChange });
      const { queue } = await offerOne(app);
      const id = 'b "quoted"';
      await app.producer.offer(queue, {}, '1h', { id });
      const board = app.board.with({ cookie: 'session=ada' });
      await board.post(`i/-/queues/${queue}/messages/${encodeURIComponent(id)}/cancel`);
      await board.post(`i/-/queues/${queue}/messages/gone/cancel`);
      await board.post(`i/-/queues/${queue}/pause`);
      const common = { who: 'ada\nFAKE LINE', instance: '-', queue, at: expect.any(Date) };
      expect(changes).toEqual([
        { ...common, action: 'cancel', ids: [id], count: 1 },
        { ...common, action: 'cancel', ids: ['gone'], count: 0 },
        { ...common, action: 'pause', count: 0 },
      ]);
      const log = app.log.join('\n');
      expect(log).toContain(String.raw`"ada\nFAKE LINE": cancel ["b \"quoted\""] in queue ${queue}: 1 changed`);
      expect(log).toContain('The audit is down.');
    });

    test('of a group are logged and reported with its name and what was set', async () => {
      const changes: BoardChange[] = [];
      const queue = scene.newQueue();
      const module = { connection: scene.url, prefix: scene.prefix, queues: { [queue]: { groups: {} } } };
      const app = await start(
        { who: () => 'ada', onChange: (change) => void changes.push(change) },
        { parts: { imports: [DelayQueueModule.forRoot(module)] } },
      );
      const group = 'acme "quoted"';
      const path = `i/-/queues/${queue}/groups/${encodeURIComponent(group)}`;
      await app.board.post(`${path}/pause`);
      await app.board.post(`${path}/resume`);
      await app.board.post(`${path}/concurrency`, { concurrency: 3 });
      await app.board.post(`${path}/concurrency`, { concurrency: 'many' });
      const common = { who: 'ada', instance: '-', queue, group, count: 0, at: expect.any(Date) };
      expect(changes).toEqual([
        { ...common, action: 'pause-group' },
        { ...common, action: 'resume-group' },
        { ...common, action: 'set-group-concurrency', concurrency: 3 },
      ]);
      const log = app.log.join('\n');
      expect(log).toContain(String.raw`"ada": pause-group "acme \"quoted\"" in queue ${queue}: 0 changed`);
      expect(log).toContain(
        String.raw`"ada": set-group-concurrency "acme \"quoted\"" to 3 in queue ${queue}: 0 changed`,
      );
    });
  });

  test('sends strict headers with the page, the API and refusals', async () => {
    const { board } = await start({});
    for (const path of ['/', '/deep/link', '/api/config', '/api/nothing', '/assets/nothing.js']) {
      const { headers } = await board.send(path);
      expect(headers['content-security-policy']).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
      expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
    }
  });

  test('shows hostile content as data', async () => {
    const app = await start({});
    const payload = { html: '</script><script>alert(1)</script>', __proto__: null, 'a\u2028': '\u0000' };
    const queue = scene.newQueue();
    const ids = ['<img src=x onerror=alert(1)>', 'a/b?c#d', '%2F', '..%2f', "' OR 1=1", '\u202Egnp', '日本語'];
    for (const id of ids) await app.producer.offer(queue, payload, '1h', { id });
    for (const id of ids) {
      const answer = await app.board.get<MessageView>(`i/-/queues/${queue}/messages/${encodeURIComponent(id)}`);
      expect(answer.body).toMatchObject({
        id,
        payload: { kind: 'json', value: JSON.parse(JSON.stringify(payload)) as unknown },
      });
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    }
    expect((await app.board.get('i/-/queues/%00/messages/a')).status).toBe(400);
    expect((await app.board.get('i/__proto__/queues')).status).toBe(404);
  });

  test('shows only what `show` returns', async () => {
    const shows = {
      a: () => ({ payload: { shown: 1 } }),
      b: () => undefined,
      c: () => {
        throw new Error('secret');
      },
    } as const;
    const show = ({ id }: { id: string }) =>
      (shows[id as 'a'] ?? (() => Promise.resolve({ payload: 'secret' }) as never))();
    const app = await start({ show });
    const queue = scene.newQueue();
    for (const id of ['a', 'b', 'c', 'd'])
      await app.producer.offer(queue, 'secret', '1h', { id, headers: { key: 'secret' } });
    const list = await app.board.get<MessageListView>(`i/-/queues/${queue}/messages?state=delayed`);
    expect(list.body.messages.map(({ preview, headers }) => [preview, headers])).toEqual([
      ['{"shown":1}', {}],
      ['', {}],
      ['', {}],
      ['', {}],
    ]);
    for (const id of ['a', 'b', 'c', 'd']) {
      const { text } = await app.board.get(`i/-/queues/${queue}/messages/${id}`);
      expect(text).not.toContain('secret');
      expect(text).toContain(id === 'a' ? '{"shown":1}' : '"kind":"hidden"');
    }
    const redacted = { status: 400, body: { error: { code: 'REDACTED' } } };
    expect(await app.board.get(`i/-/queues/${queue}/messages?state=delayed&text=secret`)).toMatchObject(redacted);
    const filter = { state: 'delayed', text: 'secret' };
    expect(await app.board.post(`i/-/queues/${queue}/jobs`, { action: 'count', filter })).toMatchObject(redacted);
    expect(await app.board.post(`i/-/queues/${queue}/messages/a/change`, { payload: {} })).toMatchObject(redacted);
    expect((await app.board.get<ConfigView>('config')).body.redacted).toBe(true);
  });

  test('shows of a handled message only what `show` returns', async () => {
    const queue = scene.newQueue();
    const show = ({ id }: { id: string }) => (id === 'a' ? { payload: { shown: 1 } } : undefined);
    const app = await start({ show });
    const queues = { [queue]: { history: { for: '1h', payloads: true } } } as const;
    await scene.startApp({ module: { queues }, providers: [handlerOf(queue, () => undefined)] });
    for (const id of ['a', 'b']) await app.producer.offer(queue, 'secret', 0, { id, headers: { key: 'secret' } });
    await until(async () => (await app.producer.list(queue, 'handled')).messages.length === 2);
    const list = await app.board.get<HandledListView>(`i/-/queues/${queue}/handled`);
    expect(list.text).not.toContain('secret');
    expect(list.body.messages.map(({ preview }) => preview).sort()).toEqual(['', '{"shown":1}']);
    const views = await Promise.all(['a', 'b'].map((id) => app.board.get(`i/-/queues/${queue}/handled/${id}`)));
    for (const { text } of views) expect(text).not.toContain('secret');
    expect(views[0]!.body).toMatchObject({ payload: { kind: 'json', value: { shown: 1 } }, headers: {} });
    expect(views[1]!.body).toMatchObject({ payload: { kind: 'hidden' }, headers: {} });
  });

  test('serves events only while a session lasts', async () => {
    const app = await start({ guards: [SessionGuard], imports: [SessionModule] });
    const board = app.board.with({ cookie: 'session=1' });
    const stream = await board.events(`i/-/events?queues=${scene.newQueue()}`);
    await until(() => stream.events.length > 0);
    app.get(Sessions).open.clear();
    stream.close();
    expect((await board.events(`i/-/events?queues=orders`)).response.statusCode).toBe(401);
  });
});

describe('options of the board', () => {
  test.each([
    ['path', { path: 'queues' }],
    ['path', { path: '/queues/' }],
    ['path', { path: '/' }],
    ['path', { path: '/a/../b' }],
    ['guards', { guards: {} }],
    ['guards[0]', { guards: [class {}] }],
    ['guards[1]', { guards: [passing(true), 'AdminGuard'] }],
    ['readOnly', { readOnly: 'yes' }],
    ['mayChange', { mayChange: true }],
    ['who', { who: 'ada' }],
    ['show', { show: {} }],
    ['onChange', { onChange: 1 }],
    ['instances', { instances: [] }],
    ['instances', { instances: 'billing' }],
    ['guard', { guard: [] }],
  ])('refuse a wrong %s: %j', (field, options) => {
    expect(() => DelayQueueBoardModule.forRoot(options as never)).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTION',
        message: expect.stringContaining(`DelayQueueBoardModule.forRoot(): ${field}: `),
      }),
    );
  });
});
