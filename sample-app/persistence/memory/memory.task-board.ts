import { Injectable } from '@nestjs/common';
import { BOARD_SIZE, TaskBoard } from '../../tasks/task-board.js';
import type { Task } from '../../tasks/task.js';

@Injectable()
export class MemoryTaskBoard extends TaskBoard {
  readonly #tasks = new Map<string, Task>();

  override add(task: Task): Promise<void> {
    return this.#tasks.has(task.id) ? Promise.resolve() : this.done(task);
  }

  override done(task: Task): Promise<void> {
    this.#tasks.set(task.id, task);
    const [oldest] = this.#tasks.keys();
    if (this.#tasks.size > BOARD_SIZE && oldest !== undefined) this.#tasks.delete(oldest);
    return Promise.resolve();
  }

  override find(id: string): Promise<Task | null> {
    return Promise.resolve(this.#tasks.get(id) ?? null);
  }

  override latest(): Promise<Task[]> {
    return Promise.resolve([...this.#tasks.values()].reverse());
  }
}
