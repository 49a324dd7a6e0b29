import { enableAction } from '../action.js';
import { duration } from '../figures.js';
import { post } from '../request.js';
import { remaining, serverTime } from '../server-clock.js';
import { addCard } from './card.js';

/** A thousand orders due at once, and their progress. */
export class BatchCard {
  #card = addCard({
    id: 'batch',
    title: 'A thousand at once',
    hint: 'Places 1,000 orders that all fall due at the same instant, three seconds from now.',
    body: `
          <div class="actions"><button type="button">Place 1,000 orders</button></div>
          <progress aria-label="Orders cancelled" value="0" max="1000" hidden></progress>
          <p class="outcome"></p>`,
    excerpts: 'offer-many',
    guides: { 'benchmarks.md': 'Benchmarks' },
  });
  #progress = this.#card.querySelector('progress');
  #text = this.#card.querySelector('.outcome');
  #batch = null;

  constructor() {
    enableAction(this.#card.querySelector('button'), () => post('/orders/batch'));
  }

  show(batch) {
    this.#batch = batch;
    this.#progress.hidden = batch === null;
    if (batch) {
      this.#progress.max = batch.size;
      this.#progress.value = batch.cancelled;
    }
    this.tick();
  }

  tick() {
    if (this.#batch) this.#say(outcome(this.#batch));
  }

  #say(text) {
    if (this.#text.textContent !== text) this.#text.textContent = text;
  }
}

function outcome({ size, cancelled, heldUp, dueAt, took, lateness }) {
  const all = size.toLocaleString();
  if (took !== null && heldUp > 0) {
    return `All ${all} cancelled ${duration(took)} after they were due: a pause held up ${heldUp.toLocaleString()} of them.`;
  }
  if (took !== null) {
    const { p50, p99 } = lateness;
    return `All ${all} cancelled ${duration(took)} after they were due: half within ${duration(p50)}, 99 % within ${duration(p99)}.`;
  }
  const left = Date.parse(dueAt) - serverTime();
  return left > 0 ? `${all} orders are due in ${remaining(left)}` : `${cancelled.toLocaleString()} of ${all} cancelled`;
}
