import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import type { ChangedView, ConfigView, QueueListView } from 'nestjs-delay-queue-board';
import { PageClient } from '../support/board/page-client.js';
import { randomName } from '../support/random-name.js';
import { sharedRedisUrl } from '../support/redis/shared-redis.js';
import { until } from '../support/until.js';
import { Application } from './application.js';
import { packPackage, type PackedPackage, PROJECT } from './packed-package.js';
import { PathProxy } from './path-proxy.js';
import type { RunningProgram } from './running-program.js';
import { STRICTEST } from './strictest.js';

const FORMATS = { esm: 'module', cjs: 'commonjs' } as const;

const APPLICATIONS = (['esm', 'cjs'] as const).flatMap((format) =>
  (['express', 'fastify'] as const).map((framework) => ({ format, framework })),
);

let library: PackedPackage;
let board: PackedPackage;

beforeAll(async () => {
  [library, board] = await Promise.all([packPackage(), packPackage('board')]);
});

afterAll(() => Promise.all([library.remove(), board.remove(), Application.removeAll()]));

describe('the packed board', () => {
  it('contains the module, its built page and no other project files', () => {
    const foreign = board.files.filter(
      (path) => !/^dist\/([\w.-]+\.(js|d\.ts)|page\/assets\/\w+\.\w+\.(js|css|svg))$/.test(path),
    );
    const licences = 'dist/page/LICENSES.txt';
    expect(foreign.sort()).toEqual(['LICENSE', 'README.md', licences, 'dist/page/index.html', 'package.json']);
    expect(board.files).toContain('dist/index.js');
  });
});

describe.each([11, 12])('the packed board in an application of Nest %s', (nest) => {
  let app: Application;

  beforeAll(async () => {
    app = await createBoardApplication(nest, [library.tarball, board.tarball]);
  });

  describe.each(APPLICATIONS)('in $format on $framework', ({ format, framework }) => {
    const queue = randomName('smoke');
    let program: RunningProgram;
    let proxy: PathProxy;
    let url: string;

    beforeAll(async () => {
      program = app.start(`${format}/board.js`, { REDIS_URL: sharedRedisUrl(), QUEUE: queue }, [framework]);
      url = await program.printed(/(?<=Open )http\S+(?=\n)/);
      proxy = await PathProxy.start(url, '/ops');
    });

    afterAll(async () => {
      await proxy?.stop();
      await program.end();
    });

    it('serves its page at its own path, without the global prefix of the application', async () => {
      expect(await (await fetch(`${url}/v1/hello`)).text()).toBe('Hello!');
      await expectPage(clientOf(url));
    });

    it('asks its guards', async () => {
      expect((await new PageClient(`${url}/delay-queues`).send('/')).status).toBe(403);
    });

    it('answers calls of its API', () => expectAnswers(clientOf(url)));

    it('sends events', () => expectEvents(clientOf(url)));

    it('changes a message for its own page only', () => expectChanges(clientOf(url)));

    it('does all of that behind a proxy that serves it under another path', async () => {
      const behind = clientOf(proxy.url);
      expect(await behind.send('')).toMatchObject({ status: 302, headers: { location: 'delay-queues/' } });
      await expectPage(behind);
      await expectAnswers(behind);
      await expectEvents(behind);
      await expectChanges(behind);
    });

    const path = `i/-/queues/${queue}`;

    async function expectAnswers(client: PageClient): Promise<void> {
      const { version } = (await client.get<ConfigView>('config')).body;
      expect(version).toBe(
        (JSON.parse(await app.read('node_modules/nestjs-delay-queue-board/package.json')) as ConfigView).version,
      );
      const { body } = await client.get<QueueListView>(`i/-/queues?prefix=${queue}`);
      expect(body.queues).toMatchObject([{ name: queue, delayed: 1 }]);
    }

    async function expectEvents(client: PageClient): Promise<void> {
      const stream = await client.events(`i/-/events?queues=${queue}`);
      await until(() => stream.events.length > 0);
      stream.close();
      expect(stream.events[0]).toMatchObject({ event: 'rows', data: [{ name: queue, delayed: 1 }] });
    }

    async function expectChanges(client: PageClient): Promise<void> {
      const change = (origin?: string) => {
        const headers = { 'x-delay-queue-board': '1', ...(origin !== undefined && { origin }) };
        const request = { method: 'POST', headers, body: { due: 7_200_000 } };
        return client.send<ChangedView>(`/api/${path}/messages/a/reschedule`, request);
      };
      const refused = { status: 403, body: { error: { code: 'FOREIGN_ORIGIN' } } };
      expect(await change()).toMatchObject(refused);
      expect(await change('https://evil.example')).toMatchObject(refused);
      expect(await change(client.origin)).toMatchObject({ status: 200, body: { changed: true } });
    }
  });
});

function clientOf(url: string): PageClient {
  return new PageClient(`${url}/delay-queues`).with({ 'x-user': 'ada' });
}

/** Reads the page and each file that it links to. */
async function expectPage(client: PageClient): Promise<void> {
  for (const view of ['/', '/i/-/workers']) {
    const { status, text } = await client.send(view);
    expect({ status, isPage: text.includes('<title>Delay queues</title>') }).toEqual({ status: 200, isPage: true });
    const links = [...text.matchAll(/(?:href|src)="([^"]+)"/g)].map(
      ([, link]) => new URL(link!, `${client.url}${view}`).href,
    );
    expect(links).toHaveLength(3);
    for (const link of links) {
      expect(link.startsWith(`${client.url}/assets/`)).toBe(true);
      expect((await client.send(link.slice(client.url.length))).status).toBe(200);
    }
  }
}

/** An application in each format, with packages installed from their tarballs, type-checked and compiled. */
async function createBoardApplication(nest: number, tarballs: readonly string[]): Promise<Application> {
  const app = await Application.create();
  const line = `^${nest}.0.0`;
  await app.write('package.json', {
    private: true,
    dependencies: {
      '@nestjs/common': line,
      '@nestjs/core': line,
      '@nestjs/platform-express': line,
      '@nestjs/platform-fastify': line,
      '@types/node': '^20.19.0',
      ioredis: '^6.0.0',
      'reflect-metadata': '^0.2.0',
      rxjs: '^7.8.0',
    },
  });
  for (const [format, type] of Object.entries(FORMATS)) {
    await app.write(`${format}/package.json`, { type });
    await app.add('board.ts', `${format}/board.ts`);
  }
  const compilerOptions = { ...STRICTEST, module: 'nodenext' };
  await app.write('tsconfig.json', { compilerOptions, include: ['*/board.ts'] });
  await app.install(...tarballs);
  await app.command(process.execPath, [join(PROJECT, 'node_modules/typescript/bin/tsc')]);
  return app;
}
