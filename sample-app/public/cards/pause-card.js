import { enableSwitch } from '../action.js';
import { addCard } from './card.js';

/** Pauses and resumes the orders' queue. */
export class PauseCard {
  #card = addCard({
    id: 'pause',
    title: 'Pause and resume',
    hint: 'Pauses the orders’ queue in every process. Offers are still accepted, and nothing is lost.',
    body: `
          <div class="actions"><button type="button" role="switch" aria-checked="false">Queue paused</button></div>
          <p class="outcome" role="status"></p>`,
    excerpts: 'pause',
    guides: { 'operations.md': 'Operations' },
  });
  #switch = this.#card.querySelector('[role=switch]');
  #text = this.#card.querySelector('.outcome');

  constructor() {
    enableSwitch(this.#switch, { on: '/controls/pause', off: '/controls/resume' });
  }

  switched({ paused }) {
    this.#switch.ariaChecked = String(paused);
    this.#text.textContent = paused ? 'Paused in every process: messages that fall due wait as ready.' : '';
  }
}
