import { BadRequestException, Controller, Post, Query } from '@nestjs/common';
import { DelayQueueProducer } from 'nestjs-delay-queue';
import { ShopEvents } from '../live/shop-events.js';
import { readDuration } from '../requests/read-duration.js';
import { TaskBoard } from './task-board.js';
import type { TaskPayload } from './task-handler.js';
import type { Task } from './task.js';

const LONGEST_TASK = 100;

@Controller()
export class TasksController {
  constructor(
    private readonly producer: DelayQueueProducer,
    private readonly board: TaskBoard,
    private readonly events: ShopEvents,
  ) {}

  @Post('add')
  async add(@Query('task') text?: unknown, @Query('delay') delay: unknown = '5s'): Promise<Task> {
    const task = typeof text === 'string' ? text.trim() : '';
    if (task === '' || task.length > LONGEST_TASK) {
      throw new BadRequestException(`task must be text of 1 to ${LONGEST_TASK} characters`);
    }
    const { id, dueAt } = await this.producer.offer<TaskPayload>('tasks', { task }, readDuration(delay, 'delay'));
    const added: Task = { id, task, dueAt: dueAt.toISOString(), doneAt: null };
    await this.board.add(added);
    await this.events.publish({ type: 'task', data: added });
    return added;
  }
}
