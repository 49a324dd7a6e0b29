import {
  BadRequestException,
  Controller,
  Get,
  Head,
  Header,
  MethodNotAllowedException,
  Post,
  Query,
  UseGuards,
} from '@nestjs/common';
import { DelayQueueProducer } from 'nestjs-delay-queue';
import { ShopEvents } from '../live/shop-events.js';
import { readDuration } from '../requests/read-duration.js';
import { OwnSiteGuard } from '../requests/same-origin.js';
import { TaskBoard } from './task-board.js';
import type { TaskPayload } from './task-handler.js';
import type { Task } from './task.js';

const MAX_TASK = 100;

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
    if (task === '' || task.length > MAX_TASK) {
      throw new BadRequestException(`task must be text of 1 to ${MAX_TASK} characters`);
    }
    const { id, dueAt } = await this.producer.offer<TaskPayload>('tasks', { task }, readDuration(delay, 'delay'));
    const added: Task = { id, task, dueAt: dueAt.toISOString(), doneAt: null };
    await this.board.add(added);
    await this.events.publish({ type: 'task', data: added });
    return added;
  }

  /** Or else Express would answer HEAD by what answers GET, and so add a task. */
  @Head('add')
  refuseHead(): never {
    throw new MethodNotAllowedException();
  }

  /** For the address bar of a browser: `/add?task=sanyou`. */
  @Get('add')
  @UseGuards(OwnSiteGuard)
  @Header('Cache-Control', 'no-store')
  addTyped(@Query('task') text?: unknown, @Query('delay') delay?: unknown): Promise<Task> {
    return this.add(text, delay);
  }
}
