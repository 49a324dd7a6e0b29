import { enableAction, enableSwitch } from '../action.js';
import { post } from '../request.js';
import { addCard } from './card.js';

const TRIED = 3;

/** A handler that fails, and what happens to its messages. */
export class FailureCard {
  #card = addCard({
    id: 'failures',
    title: 'A handler that fails',
    hint: 'Make the orders’ handler fail: after four attempts, each message becomes a dead letter with its error. Switch the failure off again, then redrive.',
    body: `
          <div class="actions">
            <button type="button" role="switch" aria-checked="false">Handler fails</button>
            <button type="button" id="try-failing">Place 3 orders due now</button>
          </div>
          <p class="outcome" role="status"></p>
          <ul id="dead-letters" class="letters" aria-label="Dead letters"></ul>
          <p class="rest" id="more-letters"></p>
          <div class="actions" id="all-letters" hidden>
            <button type="button" id="redrive-all">Redrive all</button>
            <button type="button" id="discard-all">Discard all</button>
          </div>`,
    excerpts: 'retries redrive',
    guides: { 'lifecycle.md#attempts': 'Attempts', 'errors.md': 'Errors' },
  });
  #switch = this.#card.querySelector('[role=switch]');
  #text = this.#card.querySelector('.outcome');
  #list = this.#card.querySelector('#dead-letters');
  #template = document.querySelector('#letter-template');
  #more = this.#card.querySelector('#more-letters');
  #all = this.#card.querySelector('#all-letters');
  #shown = '';

  constructor() {
    enableSwitch(this.#switch, { on: '/controls/fail', off: '/controls/mend' });
    enableAction(this.#card.querySelector('#try-failing'), async () => {
      await Promise.all(Array.from({ length: TRIED }, () => post('/orders', { item: 'A test', payWithin: 0 })));
      this.#text.textContent = `${TRIED} orders are placed and due now.`;
    });
    enableAction(this.#card.querySelector('#redrive-all'), () => this.#forAll('/dead-letters/redrive'));
    enableAction(this.#card.querySelector('#discard-all'), () => this.#forAll('/dead-letters/discard'));
  }

  switched({ failing }) {
    const wasFailing = this.#switch.ariaChecked === 'true';
    this.#switch.ariaChecked = String(failing);
    if (failing === wasFailing) return;
    this.#text.textContent = failing ? 'The handler fails now.' : 'The handler works again.';
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
    this.#tell(await post(path));
    this.#switch.focus();
  }

  #tell({ redriven, discarded }) {
    const count = redriven ?? discarded;
    const letters = count === 1 ? '1 dead letter is' : `${count.toLocaleString()} dead letters are`;
    const due = count === 1 ? 'it is due now' : 'they are due now';
    this.#text.textContent = redriven === undefined ? `${letters} discarded.` : `${letters} redriven: ${due}.`;
  }

  #row({ id, orderId, failedAttempts, error }) {
    const row = this.#template.content.firstElementChild.cloneNode(true);
    row.querySelector('.id').textContent = `#${orderId.slice(0, 8)}`;
    row.querySelector('.why').textContent = `${failedAttempts} attempts: ${error}`;
    const button = row.querySelector('button');
    button.setAttribute('aria-label', `Redrive order ${orderId.slice(0, 8)}`);
    const redrive = async () => this.#tell(await post(`/dead-letters/${encodeURIComponent(id)}/redrive`));
    enableAction(button, redrive, this.#card);
    return row;
  }
}
