import { whileBusy } from './busy.js';
import { duration } from './figures.js';
import { problemOf, say } from './form.js';
import { post } from './request.js';
import { hasPassed, remaining, serverTime, timeOfDay } from './server-clock.js';

/** Of the handler; then the message is a dead letter. */
const ATTEMPTS = 4;
const MAX_LIST = 12;
const SOON = 5000;
const NONE = 'No orders yet. Place one above and watch its time run out.';

/** The orders on the page, newest first. */
export class OrderList {
  #list = document.querySelector('#orders');
  #title = document.querySelector('#orders-title');
  #empty = document.querySelector('#no-orders');
  #news = document.querySelector('#news');
  #template = document.querySelector('#order-template');
  #rows = new Map();
  #away = false;
  #paused = false;
  #redrivable = new Set();

  /** Nothing is known about the orders until all of them are shown again. */
  away() {
    this.#away = true;
    this.#empty.textContent = 'The orders cannot be read while Redis is down.';
    this.tick();
  }

  /** While the queue is paused, due orders say so. */
  switched({ paused }) {
    this.#paused = paused;
    this.tick();
  }

  /** Only these orders have a dead letter. That of another one may have been discarded. */
  redrivable(ids) {
    this.#redrivable = new Set(ids);
    for (const row of this.#rows.values()) this.#offer(row);
  }

  showAll(orders) {
    this.#away = false;
    this.#empty.textContent = NONE;
    const ids = new Set(orders.map(({ id }) => id));
    for (const id of [...this.#rows.keys()]) if (!ids.has(id)) this.#remove(id);
    for (const order of [...orders].reverse()) this.show(order);
    this.#empty.hidden = this.#rows.size > 0;
  }

  show(order) {
    if (this.#isPast(order)) return;
    const row = this.#rows.get(order.id) ?? this.#add(order);
    const before = row.order?.status;
    // A settled order stays settled; older news may arrive late.
    if (before && before !== 'unpaid' && order.status === 'unpaid') return;
    row.order = order;
    hasPassed(order.settledAt ?? order.placedAt);
    row.element.dataset.status = order.status;
    row.bar.hidden = order.status !== 'unpaid';
    this.#offer(row);
    if (order.status !== 'unpaid') row.time.textContent = settled(order);
    if (before === 'unpaid' && order.status !== before) {
      row.element.classList.add('settled-now');
      this.#news.textContent = `${order.item} is ${order.status}`;
    }
    this.#tick(row);
  }

  tick() {
    for (const row of this.#rows.values()) this.#tick(row);
  }

  /** What can be done with an order: it is paid, or its dead letter is redriven. */
  #offer({ order, element, status, pay, redrive }) {
    const isDead = order.status === 'unpaid' && this.#redrivable.has(order.id);
    const pressed = [pay, redrive].find((button) => button === document.activeElement);
    element.classList.toggle('dead', isDead);
    status.textContent = isDead ? 'dead' : order.status;
    redrive.hidden = !isDead;
    pay.hidden = order.status !== 'unpaid' || isDead;
    // Keeps the place on the page of whoever has just pressed the button.
    if (pressed?.hidden) element.focus();
  }

  #tick({ order, element, time, bar }) {
    if (order.status !== 'unpaid') return;
    const dueAt = Date.parse(order.dueAt);
    const left = dueAt - serverTime();
    time.textContent = left > 0 ? remaining(left) : this.#overdue(order);
    element.classList.toggle('soon', left < SOON);
    element.classList.toggle('overdue', left <= 0);
    const share = Math.min(1, Math.max(0, left / Math.max(1, dueAt - Date.parse(order.placedAt))));
    bar.firstElementChild.style.transform = `scaleX(${share})`;
  }

  /** Whether the list is full of newer orders. */
  #isPast({ id, placedAt }) {
    if (this.#rows.has(id) || this.#rows.size < MAX_LIST) return false;
    return [...this.#rows.values()].every(({ order }) => order.placedAt > placedAt);
  }

  #overdue({ failedAttempts }) {
    if (this.#away) return 'waiting for Redis';
    if (failedAttempts >= ATTEMPTS) return `${failedAttempts} attempts failed`;
    if (failedAttempts > 0) return `attempt ${failedAttempts} failed`;
    return this.#paused ? 'paused' : 'due';
  }

  #add({ id, item }) {
    const element = this.#template.content.firstElementChild.cloneNode(true);
    const part = (name) => element.querySelector(`.${name}`);
    const row = { element, problem: part('error') };
    for (const name of ['status', 'time', 'pay', 'redrive', 'bar']) row[name] = part(name);
    element.dataset.orderId = id;
    part('item').textContent = item;
    part('item').title = item;
    part('id').textContent = `#${id.slice(0, 8)}`;
    row.pay.setAttribute('aria-label', `Pay ${item}`);
    row.pay.addEventListener('click', () => this.#send(row, row.pay, `/orders/${id}/pay`));
    row.redrive.setAttribute('aria-label', `Redrive ${item}`);
    row.redrive.addEventListener('click', () => this.#send(row, row.redrive, `/dead-letters/unpaid:${id}/redrive`));
    this.#list.prepend(element);
    this.#rows.set(id, row);
    if (this.#rows.size > MAX_LIST) this.#remove(this.#list.lastElementChild.dataset.orderId);
    this.#empty.hidden = true;
    return row;
  }

  #send(row, button, address) {
    return whileBusy(button, async () => say(row.problem, await problemOf(() => post(address))));
  }

  #remove(id) {
    const { element } = this.#rows.get(id);
    if (element.contains(document.activeElement)) this.#title.focus();
    element.remove();
    this.#rows.delete(id);
  }
}

function settled({ settledAt, lateBy, heldUp }) {
  const how = lateBy === null ? '' : heldUp ? ', held up by a pause' : `, ${duration(lateBy)} late`;
  return timeOfDay(settledAt) + how;
}
