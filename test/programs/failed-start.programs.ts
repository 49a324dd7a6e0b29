import { describe, expect, test } from '@jest/globals';
import { runProgram } from '../support/run-program.js';
import { useCluster } from '../support/redis/use-cluster.js';
import { Scene } from '../support/scene.js';
import type { StartReport, StartSettings } from './failed-start.program.js';

/** Nothing listens there, and nothing ever answers here. */
const REFUSED = 'redis://127.0.0.1:1';
const BLACK_HOLE = 'redis://192.0.2.1:6379';

/** The maximum time for pending work to end, ms. */
const SOON = 3500;

const start = (settings: Partial<StartSettings>): Promise<StartReport> =>
  runProgram<StartReport>('../programs/failed-start.program.ts', {
    how: 'context',
    offers: true,
    handles: true,
    ...settings,
  });

describe('a process whose application has failed to start', () => {
  const scene = new Scene();
  const cluster = useCluster();

  type Server = 'redis' | 'cluster' | 'refused' | 'away' | 'memory';
  type Case = readonly [Server, StartSettings['how'], NonNullable<StartSettings['failing']>];

  const moduleOf = (server: Server): StartSettings['module'] => {
    const common = { prefix: scene.prefix, offerTimeout: 2000 };
    switch (server) {
      case 'memory':
        return { store: 'memory' };
      case 'cluster':
        return { ...common, connection: { cluster: { nodes: cluster().nodes } } };
      case 'redis':
        return { ...common, connection: scene.url };
      case 'refused':
        return { ...common, connection: REFUSED };
      case 'away':
        return { ...common, connection: BLACK_HOLE };
    }
  };

  test.each<Case>([
    ['redis', 'context', { hook: 'onModuleInit', after: 0 }],
    ['redis', 'context', { hook: 'onApplicationBootstrap', after: 0 }],
    ['redis', 'http', { hook: 'onApplicationBootstrap', after: 1000 }],
    ['cluster', 'context', { hook: 'onApplicationBootstrap', after: 1000 }],
    ['refused', 'http', { hook: 'onModuleInit', after: 0 }],
    ['refused', 'context', { hook: 'onApplicationBootstrap', after: 1000 }],
    ['away', 'context', { hook: 'onApplicationBootstrap', after: 0 }],
    ['memory', 'http', { hook: 'onApplicationBootstrap', after: 0 }],
  ])('exits on its own: server %s, application %s, failing hook %p', async (server, how, failing) => {
    const report = await start({ module: moduleOf(server), queue: scene.newQueue(), how, failing });
    expect(report).toEqual({ failure: 'startup fails', lived: expect.any(Number) });
    expect(report.lived).toBeLessThan(SOON);
  });

  test.each<[string, Partial<StartSettings>]>([
    ['with handlers', { handles: true, offers: false }],
    ['with a producer that makes offers', { handles: false, offers: true }],
    ['with a producer that makes no offers', { handles: false, offers: false }],
  ])('differs from one whose application has started, which stays alive: %s', async (_what, settings) => {
    const { resources, ...report } = await start({ module: moduleOf('redis'), queue: scene.newQueue(), ...settings });
    expect(report).toEqual({ lived: expect.any(Number) });
    expect(resources).toContain('TCPSocketWrap');
  });
});
