import { enableSwitch } from './action.js';

/** The orders' queue, held and let go. */
export class PauseCard {
  #card = document.querySelector('#pause');
  #switch = this.#card.querySelector('[role=switch]');
  #text = this.#card.querySelector('.outcome');

  constructor() {
    enableSwitch(this.#switch, { on: '/controls/pause', off: '/controls/resume' });
  }

  switched({ paused }) {
    this.#switch.ariaChecked = String(paused);
    this.#text.textContent = paused ? 'Paused in every process: what falls due waits as ready.' : '';
  }
}
