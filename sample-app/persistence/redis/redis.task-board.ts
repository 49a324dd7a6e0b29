import { Injectable } from '@nestjs/common';
import { BOARD_SIZE, TaskBoard } from '../../tasks/task-board.js';
import type { Task } from '../../tasks/task.js';
import { RedisConnection } from './redis-connection.js';

const BOARD = 'shop:tasks';

@Injectable()
export class RedisTaskBoard extends TaskBoard {
  constructor(private readonly redis: RedisConnection) {
    super();
  }

  override async add(task: Task): Promise<void> {
    const isNew = await this.redis.commands.set(key(task.id), JSON.stringify(task), 'NX');
    if (isNew) await this.#pin(task.id);
  }

  override async done(task: Task): Promise<void> {
    await this.redis.commands.set(key(task.id), JSON.stringify(task));
    await this.#pin(task.id);
  }

  override async find(id: string): Promise<Task | null> {
    return read(await this.redis.commands.get(key(id)));
  }

  override async latest(): Promise<Task[]> {
    const ids = await this.redis.commands.zrevrange(BOARD, 0, BOARD_SIZE - 1);
    const tasks = ids.length > 0 ? await this.redis.commands.mget(ids.map(key)) : [];
    return tasks.map(read).filter((task) => task !== null);
  }

  async #pin(id: string): Promise<void> {
    await this.redis.commands.zadd(BOARD, 'NX', Date.now(), id);
    const fallen = await this.redis.commands.zrange(BOARD, 0, `-${BOARD_SIZE + 1}`);
    if (fallen.length === 0) return;
    await this.redis.commands.zrem(BOARD, ...fallen);
    await this.redis.commands.del(...fallen.map(key));
  }
}

function key(id: string): string {
  return `shop:task:${id}`;
}

function read(json: string | null): Task | null {
  return json === null ? null : (JSON.parse(json) as Task);
}
