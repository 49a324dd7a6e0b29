import { readFileSync } from 'node:fs';
import { fileURLToPath, URL } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { examine, type Finding } from '../../lib/diagnosis/index.js';
import { Handled } from '../support/handled.js';
import { Scene } from '../support/scene.js';
import { onRandomPort } from '../support/redis/random-port.js';
import { startCluster } from '../support/redis/start-cluster.js';
import { startRedis } from '../support/redis/start-redis.js';
import type { RequestRule } from '../support/tcp-proxy/faults.js';
import { encodeRequest } from '../support/tcp-proxy/request-parser.js';
import { TcpProxy } from '../support/tcp-proxy/tcp-proxy.js';
import { handlerOf } from '../support/test-app.js';

/** What a service forbids: commands that its server does not know, rules of its user's ACL, or what a proxy does to commands. */
interface Restriction {
  readonly unknown?: readonly string[];
  readonly acl?: readonly string[];
  readonly proxy?: readonly RequestRule[];
  readonly database?: number;
}

type Expected = Partial<Record<keyof Finding, unknown>>;

interface Restricted {
  readonly server: string;
  readonly restriction: Restriction;
  /** The error of the start; undefined if messages are handled. */
  readonly start?: { readonly code: string; readonly message: RegExp };
  /** Findings of the doctor that are not `ok`, or that this restriction is about. */
  readonly doctor: readonly Expected[];
}

const finding = (verdict: Finding['verdict'], check: string, found: RegExp, advice?: RegExp): Expected => ({
  ...{ verdict, check, found: expect.stringMatching(found) },
  ...(advice && { advice: expect.stringMatching(advice) }),
});

/** The only finding that is not `ok` about an unrestricted server that saves nothing to disk. */
const UNSAVED = finding('warn', 'persistence', /^no append-only file/);

const refuses = (reply: string, ...commands: readonly string[]): RequestRule => ({
  judge: ({ command }) =>
    commands.includes(command)
      ? { instead: encodeRequest('EVAL', 'return redis.error_reply(ARGV[1])', '0', reply.replace('%', command)) }
      : undefined,
});
const knowsNo = (...commands: readonly string[]) => refuses("ERR unknown command '%'", ...commands);
const saysOnly = (info: string): RequestRule => ({
  judge: ({ command }) =>
    command === 'INFO' ? { instead: encodeRequest('EVAL', 'return ARGV[1]', '0', info) } : undefined,
});

const CASES: readonly Restricted[] = [
  {
    server: 'that knows no CONFIG',
    restriction: { unknown: ['CONFIG'] },
    doctor: [UNSAVED, finding('ok', 'functions', /as functions/)],
  },
  {
    server: 'whose user may not use functions',
    restriction: { acl: ['-function', '-fcall'] },
    doctor: [UNSAVED, finding('warn', 'functions', /as scripts: NOPERM .*'fcall'/, /scripting/)],
  },
  {
    server: 'that knows no functions',
    restriction: { unknown: ['FUNCTION', 'FCALL'] },
    doctor: [UNSAVED, finding('warn', 'functions', /^calls run as scripts: ERR unknown command 'FCALL'$/, /scripting/)],
  },
  {
    server: 'that knows no scripts',
    restriction: { unknown: ['EVAL', 'EVALSHA', 'SCRIPT'] },
    doctor: [UNSAVED, finding('ok', 'functions', /as functions/)],
  },
  {
    server: 'that knows neither functions nor scripts',
    restriction: { unknown: ['FUNCTION', 'FCALL', 'EVAL', 'EVALSHA'] },
    start: { code: 'UNSUPPORTED_SERVER', message: /does not know the command EVAL/ },
    doctor: [UNSAVED, finding('fail', 'scripts', /does not know the command EVAL\b.*rename-command/)],
  },
  {
    server: 'whose scripts cannot ask for permissions',
    restriction: {
      proxy: [knowsNo('FUNCTION', 'FCALL'), refuses('NOACLCHECK redis.acl_check_cmd is missing', 'EVAL', 'EVALSHA')],
    },
    start: { code: 'UNSUPPORTED_SERVER', message: /lack what those of Redis 7.0 have \(NOACLCHECK/ },
    doctor: [UNSAVED, finding('fail', 'scripts', /NOACLCHECK.*use Redis 7.0 or newer, or Valkey/)],
  },
  {
    server: 'whose scripts have no first line with flags',
    restriction: {
      proxy: [knowsNo('FUNCTION', 'FCALL'), refuses("ERR user_script:2: unexpected symbol near '#'", 'EVAL')],
    },
    start: { code: 'UNSUPPORTED_SERVER', message: /lack what those of Redis 7.0 have \(ERR user_script/ },
    doctor: [UNSAVED, finding('fail', 'scripts', /user_script.*use Redis 7.0 or newer, or Valkey/)],
  },
  {
    server: 'whose user may not send INFO',
    restriction: { acl: ['-info'] },
    doctor: [finding('warn', 'server', /may not run INFO/, /Add \+info/)],
  },
  {
    server: 'that knows no INFO',
    restriction: { unknown: ['INFO'] },
    start: { code: 'UNSUPPORTED_SERVER', message: /does not know the command INFO/ },
    doctor: [finding('fail', 'version', /does not know the command INFO/)],
  },
  {
    server: 'that reveals only part of INFO',
    restriction: { proxy: [saysOnly('# Server\r\nuptime_in_days:1\r\n')] },
    doctor: [
      finding('warn', 'version', /names no version/, /7.0 or newer/),
      finding('warn', 'eviction', /names no maxmemory-policy/, /not evict/),
      finding('warn', 'persistence', /does not say/, /settings of the service/),
    ],
  },
  {
    server: 'whose user may not send CLIENT',
    restriction: { acl: ['-client'] },
    doctor: [UNSAVED, finding('warn', 'connections', /lacks \+client\|id \+client\|unblock/, /64 queues share/)],
  },
  {
    server: 'that knows no CLIENT',
    restriction: { unknown: ['CLIENT'] },
    doctor: [UNSAVED, finding('warn', 'connections', /each handled queue has its own connection/)],
  },
  {
    server: 'that knows no HELLO',
    restriction: { unknown: ['HELLO'] },
    doctor: [UNSAVED, finding('ok', 'version', /^\w+ \d/)],
  },
  {
    server: 'whose user may not SELECT a database',
    restriction: { acl: ['-select'], database: 1 },
    start: { code: 'LOGIN_REFUSED', message: /NOPERM .*'select'/ },
    doctor: [finding('fail', 'connection', /NOPERM .*'select'.*extend its ACL/)],
  },
  {
    server: 'that knows no TIME',
    restriction: { unknown: ['TIME'] },
    start: { code: 'MISSING_PERMISSION', message: /lacks \+time/ },
    doctor: [finding('fail', 'connection', /does not know the command TIME/)],
  },
  {
    server: 'behind a proxy that knows no PUBLISH and no SUBSCRIBE',
    restriction: { proxy: [knowsNo('PUBLISH', 'SUBSCRIBE', 'PSUBSCRIBE')] },
    doctor: [
      UNSAVED,
      finding('fail', 'probe', /^not handled/, /refused SUBSCRIBE.*a proxy in front of it.*managed-redis/),
    ],
  },
  {
    server: 'behind a proxy that knows no blocking calls',
    restriction: { proxy: [knowsNo('BLPOP', 'BLMOVE')] },
    doctor: [UNSAVED, finding('fail', 'probe', /was handled/, /refused BLPOP.*a proxy in front of it.*managed-redis/)],
  },
];

describe('a server', () => {
  const scene = new Scene();

  test.each(CASES)('$server', async ({ restriction, start, doctor }) => {
    const { url, stop } = await startRestricted(restriction);
    try {
      const findings: Finding[] = [];
      for await (const each of examine({ connection: url, prefix: scene.prefix, offerTimeout: '2s' }))
        findings.push(each);
      // How late the probe is on a busy machine is not the question.
      const notable = findings.filter(
        ({ check, verdict }) => verdict !== 'ok' && !(check === 'probe' && verdict === 'warn'),
      );
      expect(notable).toEqual(
        doctor.filter(({ verdict }) => verdict !== 'ok').map((each) => expect.objectContaining(each)),
      );
      expect(findings).toEqual(expect.arrayContaining(doctor.map((each) => expect.objectContaining(each))));

      const queue = scene.newQueue();
      const handled = new Handled();
      // Without announcements, messages are as late as this.
      const module = { connection: url, defaults: { checkInterval: '1s' } };
      const starting = scene.startApp({ module, providers: [handlerOf(queue, handled.record)] });
      if (start) {
        await expect(starting).rejects.toMatchObject({
          code: start.code,
          message: expect.stringMatching(start.message),
        });
        return;
      }
      const { producer, close } = await starting;
      await producer.offer(queue, 1, 50);
      await producer.offer(queue, 2, 0);
      await handled.untilCalls(2);
      await close();
    } finally {
      await stop();
    }
  });
});

describe('a cluster that accepts only TLS and a login', () => {
  const scene = new Scene();
  const fileOf = (name: string) => fileURLToPath(new URL(`../support/tls/${name}`, import.meta.url));

  test('handles messages, and the doctor approves of it', async () => {
    const files = ['--tls-cert-file', fileOf('server.crt'), '--tls-key-file', fileOf('server.key')];
    const clients = ['--tls-ca-cert-file', fileOf('ca.crt'), '--tls-auth-clients', 'no'];
    const user = ['--user', 'orders', 'on', '>secret', '~*', '&*', '+@all', '-config', '-debug'];
    // Its nodes talk to each other 10,000 above the port for TLS, so another attempt needs another one.
    const { server, port } = await onRandomPort(async (port) => {
      const tls = ['--tls-port', String(port), '--tls-cluster', 'yes'];
      return { server: await startCluster([...tls, ...files, ...clients, ...user]), port };
    });
    const redisOptions = { username: 'orders', password: 'secret', tls: { ca: readFileSync(fileOf('ca.crt')) } };
    // Cloud services list names in the cluster's map, which their certificates are for.
    const dnsLookup = (address: string, found: (error: null, address: string) => void) => found(null, address);
    const connection = {
      cluster: { nodes: [{ host: '127.0.0.1', port }], options: { dnsLookup, redisOptions } },
    };
    try {
      const findings: Finding[] = [];
      for await (const each of examine({ connection, prefix: scene.prefix })) findings.push(each);
      expect(findings.filter(({ verdict }) => verdict === 'fail')).toEqual([]);
      expect(findings.map(({ check }) => check)).toContain('probe');

      const queue = scene.newQueue();
      const handled = new Handled();
      const { producer, close } = await scene.startApp({
        module: { connection },
        providers: [handlerOf(queue, handled.record)],
      });
      await producer.offer(queue, 1, 50);
      await handled.untilCalls(1);
      await close();
    } finally {
      await server.stop();
    }
  });
});

async function startRestricted({ unknown = [], acl, proxy = [], database = 0 }: Restriction) {
  const user = acl && ['--user', 'restricted', 'on', '>secret', '~*', '&*', '+@all', ...acl];
  const args = [...unknown.flatMap((command) => ['--rename-command', command, '']), ...(user ?? [])];
  const server = await startRedis({ args });
  const between = proxy.length > 0 ? await TcpProxy.start(server.url) : undefined;
  for (const rule of proxy) between!.obey(rule);
  const { host } = new URL((between ?? server).url);
  return {
    url: `redis://${user ? 'restricted:secret@' : ''}${host}/${database}`,
    stop: async () => {
      await between?.stop();
      await server.stop();
    },
  };
}
