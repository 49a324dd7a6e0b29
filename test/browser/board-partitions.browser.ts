import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { DelayQueueModule } from 'nestjs-delay-queue';
import type { Browser } from 'playwright-core';
import { directoryKeys } from '../../lib/store/native/native-directory.js';
import { nativeKeys } from '../../lib/store/native/native-keys.js';
import { type PageApplication, startPageApplication } from '../support/board/page-application.js';
import type { ClusterMember } from '../support/redis/redis-cluster.js';
import { useCluster } from '../support/redis/use-cluster.js';
import { BoardPage, buildBoardPage } from './board-page.js';
import { startChromium } from './chromium.js';
import { expectVisible } from './shop-page.js';

const PREFIX = 'board';
const QUEUE = 'orders';
const PARTITIONS = 12;

describe("the board's page when partitions of a queue are missing", () => {
  const cluster = useCluster(['--cluster-require-full-coverage', 'no']);
  let browser: Browser;
  let application: PageApplication;
  let board: BoardPage;
  /** The servers of a shard without the directory of queues. */
  let doomed: ClusterMember[];
  let missing: number[];

  jest.setTimeout(300_000);
  beforeAll(async () => {
    [browser] = await Promise.all([startChromium(), buildBoardPage()]);
    const module = DelayQueueModule.forRoot({
      connection: { cluster: { nodes: cluster().nodes } },
      prefix: PREFIX,
      queues: { [QUEUE]: { partitions: PARTITIONS } },
      offerTimeout: 2500,
    });
    application = await startPageApplication({ parts: { imports: [module] } });
    const messages = Array.from({ length: 200 }, (_, i) => ({ payload: { i }, delay: '1h' as const }));
    await application.producer.offerMany(QUEUE, messages);
    const keys = Array.from({ length: PARTITIONS }, (_, partition) => nativeKeys(PREFIX, QUEUE, partition).delayed);
    const primaries: ClusterMember[] = [];
    for (const key of keys) primaries.push(await cluster().primaryOf(key));
    const home = await cluster().primaryOf(directoryKeys(PREFIX).names);
    const primary = primaries.find((each) => each !== home)!;
    missing = [...keys.keys()].filter((partition) => primaries[partition] === primary);
    doomed = [await cluster().replicaOf(keys[missing[0]!]!), primary];
    board = await BoardPage.open(browser, application.board.url);
  });
  afterAll(async () => {
    await board.close();
    await application.close();
    await browser.close();
  });

  it('names them in words, shows the others, and recovers by itself', async () => {
    await board.goto('/');
    await expectVisible(board.row(QUEUE).getByRole('link', { name: '200', exact: true }));
    await Promise.all(doomed.map(({ server }) => server.freeze()));
    const note = new RegExp(`Partitions? ${missing.join(', ')} do(es)? not answer`);
    await expectVisible(board.row(QUEUE).getByText(note), 30_000);
    await board.gotoQueue(QUEUE, '/messages');
    await expectVisible(board.page.getByText(note).first());
    expect(await board.page.getByRole('rowheader').count()).toBeGreaterThan(0);
    await Promise.all(doomed.map(({ server }) => server.thaw()));
    await board.goto('/');
    await expectVisible(board.row(QUEUE).getByRole('link', { name: '200', exact: true }), 30_000);
    expect(board.problems).toEqual([]);
  });
});
