/** A browser's timers are numbers, which nothing can be called on. */
class Timer {
  constructor(id, clear) {
    this.end = () => clear(id);
  }
  ref() {
    return this;
  }
  unref() {
    return this;
  }
  hasRef() {
    return true;
  }
  [Symbol.dispose ?? Symbol('dispose')]() {
    this.end();
  }
}

const end = (timer) => timer?.end?.();

export const setTimeout = (task, delay, ...args) =>
  new Timer(globalThis.setTimeout(task, delay, ...args), globalThis.clearTimeout);
export const setInterval = (task, delay, ...args) =>
  new Timer(globalThis.setInterval(task, delay, ...args), globalThis.clearInterval);

/** A message to oneself comes after what the browser has to do, and without the 4 ms of nested timers. */
const { port1, port2 } = new MessageChannel();
const tasks = [];
port1.onmessage = () => tasks.shift()?.();

export function setImmediate(task, ...args) {
  let ended = false;
  tasks.push(() => ended || task(...args));
  port2.postMessage(undefined);
  return new Timer(0, () => (ended = true));
}

export const clearTimeout = end;
export const clearInterval = end;
export const clearImmediate = end;
export default { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate };
