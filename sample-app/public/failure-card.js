import { enableAction, enableSwitch } from './action.js';
import { post } from './request.js';

const TRIED = 3;

/** A handler that fails, and what happens to its messages. */
export class FailureCard {
  #card = document.querySelector('#failures');
  #switch = this.#card.querySelector('[role=switch]');
  #list = this.#card.querySelector('#dead-letters');
  #template = document.querySelector('#letter-template');
  #more = this.#card.querySelector('#more-letters');
  #all = this.#card.querySelector('#all-letters');
  #shown = '';

  constructor() {
    enableSwitch(this.#switch, { on: '/controls/fail', off: '/controls/mend' });
    enableAction(this.#card.querySelector('#try-failing'), () =>
      Promise.all(Array.from({ length: TRIED }, () => post('/orders', { item: 'A test', payWithin: 0 }))),
    );
    enableAction(this.#card.querySelector('#redrive-all'), () => this.#forAll('/dead-letters/redrive'));
    enableAction(this.#card.querySelector('#discard-all'), () => this.#forAll('/dead-letters/discard'));
  }

  switched({ failing }) {
    this.#switch.ariaChecked = String(failing);
  }

  show({ orders, deadOrders }) {
    const rest = orders.dead - deadOrders.length;
    this.#more.textContent = rest > 0 ? `and ${rest.toLocaleString()} more` : '';
    this.#all.hidden = orders.dead === 0;
    // An unchanged list is left alone, or the button that has the focus would be gone.
    const shown = JSON.stringify(deadOrders);
    if (shown === this.#shown) return;
    this.#shown = shown;
    const hadFocus = this.#list.contains(document.activeElement);
    this.#list.replaceChildren(...deadOrders.map((letter) => this.#row(letter)));
    if (hadFocus) this.#switch.focus();
  }

  /** The buttons disappear with the last dead letter, so the focus goes to the switch, which is needed next. */
  async #forAll(path) {
    await post(path);
    this.#switch.focus();
  }

  #row({ id, orderId, failedAttempts, error }) {
    const row = this.#template.content.firstElementChild.cloneNode(true);
    row.querySelector('.id').textContent = `#${orderId.slice(0, 8)}`;
    row.querySelector('.why').textContent = `${failedAttempts} attempts: ${error}`;
    const button = row.querySelector('button');
    button.setAttribute('aria-label', `Redrive order ${orderId.slice(0, 8)}`);
    enableAction(button, () => post(`/dead-letters/${encodeURIComponent(id)}/redrive`), this.#card);
    return row;
  }
}
