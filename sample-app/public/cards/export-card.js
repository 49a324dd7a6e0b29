import { whileBusy } from '../busy.js';
import { duration } from '../figures.js';
import { problemOf, say } from '../form.js';
import { post } from '../request.js';
import { addCard } from './card.js';

/** An export that runs for ten seconds, unless somebody aborts it. */
export class ExportCard {
  #card = addCard({
    id: 'export',
    title: 'Stop what runs',
    hint: 'An export takes ten seconds. Abort it: its handler stops within milliseconds, whichever process runs it.',
    body: `
          <div class="actions">
            <button type="button" id="start-export">Start an export</button>
            <button type="button" id="abort-export" disabled>Abort</button>
          </div>
          <progress aria-label="Written" value="0" max="100" hidden></progress>
          <p class="outcome" role="status"></p>`,
    excerpts: 'abort-export write-export',
    guides: { 'producing.md#abort': 'Abort' },
  });
  #start = this.#card.querySelector('#start-export');
  #abort = this.#card.querySelector('#abort-export');
  #progress = this.#card.querySelector('progress');
  #text = this.#card.querySelector('.outcome');
  #error = this.#card.querySelector('.error');
  #id = null;
  #askedAt = null;
  #news = null;

  constructor() {
    this.#start.addEventListener('click', () => this.#ask(this.#start, () => this.#begin()));
    this.#abort.addEventListener('click', () => this.#ask(this.#abort, () => this.#stop()));
  }

  show(news) {
    if (news.id !== this.#id) return;
    this.#news = news;
    this.#tell();
  }

  #ask(button, work) {
    return whileBusy(button, async () => say(this.#error, await problemOf(work)));
  }

  async #begin() {
    this.#news = this.#askedAt = null;
    this.#id = (await post('/exports')).id;
    this.#tell();
  }

  async #stop() {
    this.#askedAt = (await post(`/exports/${this.#id}/abort`)).askedAt;
    this.#tell();
  }

  #tell() {
    const { state, percent, at } = this.#news ?? { state: 'running', percent: 0 };
    this.#progress.hidden = false;
    this.#progress.value = percent;
    this.#abort.disabled = state !== 'running';
    const took = this.#askedAt && state === 'stopped' ? Date.parse(at) - Date.parse(this.#askedAt) : null;
    if (state === 'running') this.#text.textContent = `${Math.round(percent)} % written`;
    else if (state === 'done') this.#text.textContent = 'Done. Nobody stopped it.';
    else if (took !== null)
      this.#text.textContent = `Its handler stopped ${duration(took)} after you asked, and the message is gone.`;
  }
}
