import { remaining, serverTime, timeOfDay } from './server-clock.js';

const MAX_LIST = 20;

/** The tasks on the page, newest first. */
export class TaskList {
  #list = document.querySelector('#tasks');
  #empty = document.querySelector('#no-tasks');
  #news = document.querySelector('#news');
  #template = document.querySelector('#task-template');
  #rows = new Map();
  #away = false;

  /** Nothing is known about the tasks until all of them are shown again. */
  away() {
    this.#away = true;
    this.#empty.textContent = 'The tasks cannot be read while Redis is down.';
    this.tick();
  }

  showAll(tasks) {
    this.#away = false;
    this.#empty.textContent = 'Nothing to do.';
    this.#rows.clear();
    this.#list.replaceChildren();
    for (const task of [...tasks].reverse()) this.show(task);
    this.#empty.hidden = this.#rows.size > 0;
  }

  show(task) {
    const row = this.#rows.get(task.id) ?? this.#add(task);
    if (row.task?.doneAt && !task.doneAt) return;
    if (row.task && !row.task.doneAt && task.doneAt) this.#news.textContent = `Done: ${task.task}`;
    row.task = task;
    row.element.classList.toggle('done', task.doneAt !== null);
    if (task.doneAt) row.time.textContent = `done at ${timeOfDay(task.doneAt)}`;
    this.#tick(row);
  }

  tick() {
    for (const row of this.#rows.values()) this.#tick(row);
  }

  #tick({ task, time }) {
    if (task.doneAt) return;
    const left = Date.parse(task.dueAt) - serverTime();
    time.textContent = left > 0 ? `in ${remaining(left)}` : this.#away ? 'waiting for Redis' : 'due';
  }

  #add({ id, task }) {
    const element = this.#template.content.firstElementChild.cloneNode(true);
    const row = { element, time: element.querySelector('.time') };
    element.dataset.taskId = id;
    element.querySelector('.text').textContent = task;
    this.#list.prepend(element);
    this.#rows.set(id, row);
    if (this.#rows.size > MAX_LIST) {
      const { taskId } = this.#list.lastElementChild.dataset;
      this.#list.lastElementChild.remove();
      this.#rows.delete(taskId);
    }
    this.#empty.hidden = true;
    return row;
  }
}
