import { enableSwitch } from './action.js';

/** Pauses and resumes the orders' queue. */
export class PauseCard {
  #card = document.querySelector('#pause');
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
