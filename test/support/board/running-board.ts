import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createBullBoard } from '@bull-board/api';
import { ExpressAdapter } from '@bull-board/express';
import express from 'express';
import type { Board, DelayQueueBoardAdapter } from 'nestjs-delay-queue-bull-board';
import { BoardClient } from './board-client.js';

/** A board in this process, mounted by Express. */
export class RunningBoard extends BoardClient {
  private constructor(
    url: string,
    readonly board: Board,
    private readonly server: Server,
  ) {
    super(url);
  }

  static async start(...queues: DelayQueueBoardAdapter[]): Promise<RunningBoard> {
    const serverAdapter = new ExpressAdapter().setBasePath('/board');
    // So that an answer that the page cannot read fails the test.
    const board = createBullBoard({ queues, serverAdapter, options: { validateResponses: true } });
    const server = express()
      .use('/board', serverAdapter.getRouter() as express.Router)
      .listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return new RunningBoard(`http://127.0.0.1:${port}/board`, board, server);
  }

  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }
}
