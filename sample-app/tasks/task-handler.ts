import { Injectable, Logger } from '@nestjs/common';
import { DelayedHandler, type DelayedMessage } from 'nestjs-delay-queue';
import { ShopEvents } from '../live/shop-events.js';
import { TaskBoard } from './task-board.js';

export interface TaskPayload {
  readonly task: string;
}

@Injectable()
export class TaskHandler {
  readonly #logger = new Logger(TaskHandler.name);

  constructor(
    private readonly board: TaskBoard,
    private readonly events: ShopEvents,
  ) {}

  @DelayedHandler('tasks')
  async doTask({ task }: TaskPayload, { id, dueAt }: DelayedMessage): Promise<void> {
    // A message comes at least once. A task that is done is not done again, but the pages are told again, because a
    // process may have died before it told them.
    let done = await this.board.find(id);
    if (!done?.doneAt) {
      this.#logger.log(`Task due: ${task}`);
      done = { id, task, dueAt: dueAt.toISOString(), doneAt: new Date().toISOString() };
      await this.board.done(done);
    }
    await this.events.publish({ type: 'task', data: done });
  }
}
