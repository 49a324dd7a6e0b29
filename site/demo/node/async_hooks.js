export class AsyncResource {
  runInAsyncScope(task, receiver, ...args) {
    return task.apply(receiver, args);
  }
  static bind(task) {
    return task;
  }
}

export class AsyncLocalStorage {
  #store;
  run(store, task, ...args) {
    const before = this.#store;
    this.#store = store;
    try {
      return task(...args);
    } finally {
      this.#store = before;
    }
  }
  getStore() {
    return this.#store;
  }
  exit(task) {
    return this.run(undefined, task);
  }
}

export default { AsyncResource, AsyncLocalStorage };
