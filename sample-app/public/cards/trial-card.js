import { enableAction } from '../action.js';
import { duration } from '../figures.js';
import { post } from '../request.js';
import { remaining, serverTime, timeOfDay } from '../server-clock.js';
import { addCard } from './card.js';

/** Something to try: buttons, and what the shop tells about it. */
export class TrialCard {
  #lines = [];
  #log;
  #longest;

  /**
   * @param buttons - paths by what the buttons say
   * @param lines - how many it shows of what happens
   */
  constructor({ buttons, lines = 4, ...card }) {
    this.#longest = lines;
    const texts = Object.keys(buttons).map((text) => `<button type="button">${text}</button>`);
    const body = `
      <div class="actions">${texts.join('')}</div>
      <div class="log" role="log" aria-label="${card.title}: what happens"></div>`;
    const element = addCard({ ...card, body });
    this.#log = element.querySelector('.log');
    const paths = Object.values(buttons);
    element.querySelectorAll('.actions button').forEach((button, i) => enableAction(button, () => post(paths[i])));
  }

  show({ line, dueAt, ...news }) {
    let last = this.#lines.at(-1);
    if (line === undefined || last?.line !== line) this.#lines.push((last = { element: this.#add() }));
    const due = dueAt && { dueAt: Date.parse(dueAt), began: serverTime() };
    Object.assign(last, { line, text: sentence(news), ...due });
    if (this.#lines.length > this.#longest) this.#lines.shift().element.remove();
    this.#tell(last);
    this.tick();
  }

  tick() {
    for (const line of this.#lines) if (line.dueAt) this.#tell(line);
  }

  /** Only the latest line counts down: what has come since is the end of the others, which keep what they said first. */
  #tell(line) {
    const { element, text, dueAt, began } = line;
    element.firstElementChild.textContent = text;
    const from = line === this.#lines.at(-1) ? serverTime() : began;
    element.lastElementChild.textContent = dueAt ? remaining(dueAt - from) : '';
  }

  /** The countdown is not read aloud ten times a second. */
  #add() {
    const element = document.createElement('p');
    element.innerHTML = '<span></span> <b aria-hidden="true"></b>';
    this.#log.append(element);
    return element;
  }
}

function sentence({ at, text, lateBy }) {
  const when = at === undefined ? '' : `${timeOfDay(at)}: `;
  const late = lateBy === undefined ? '' : `, ${duration(Math.round(lateBy))} late`;
  return when + text + late;
}
