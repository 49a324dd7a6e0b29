import { whileBusy } from '../busy.js';
import { problemOf, say } from '../form.js';
import { post } from '../request.js';
import { addCard } from './card.js';

const IN_MEMORY =
  'Needs a second process, and therefore Redis: start the shop with redis-server or valkey-server on the PATH, or with REDIS_URL.';

/** A worker that is frozen for longer than its lease. */
export class WorkerCard {
  #card = addCard({
    id: 'worker',
    title: 'A frozen worker',
    hint: 'Starts a second process that packs parcels alongside this one, then freezes it for longer than its lease. The parcels it held are recovered and packed here.',
    body: `
          <div class="actions"><button type="button" aria-describedby="worker-outcome">Freeze a worker</button></div>
          <p class="outcome" id="worker-outcome" role="status"></p>
          <ol class="parcels" aria-label="Parcels"></ol>`,
    excerpts: 'pack-parcel',
    guides: { 'reliability.md': 'Reliability', 'lifecycle.md#a-crash-at-each-step': 'A crash at each step' },
  });
  #button = this.#card.querySelector('button');
  #text = this.#card.querySelector('.outcome');
  #error = this.#card.querySelector('.error');
  #list = this.#card.querySelector('.parcels');
  #state = null;
  #parcels = new Map();

  constructor() {
    this.#button.addEventListener('click', async () => {
      const freeze = async () => {
        const begun = await post('/worker/freeze');
        // News of it may have come before the answer.
        if (begun.run !== this.#state?.run) this.show(begun);
      };
      await whileBusy(this.#button, async () => say(this.#error, await problemOf(freeze)));
      this.#wait();
    });
  }

  available(store) {
    this.#button.disabled = store.kind === 'memory';
    if (this.#button.disabled) this.#text.textContent = IN_MEMORY;
  }

  show(state) {
    if (state.run !== this.#state?.run) {
      this.#parcels.clear();
      this.#list.replaceChildren(...Array.from({ length: state.parcels }, (_, i) => chip(i + 1)));
    }
    this.#state = state;
    this.#wait();
    this.#tell();
  }

  /** @param freeze - null if the shop knows of no demonstration, as after a restart in the middle of one */
  showAll(freeze) {
    if (freeze) {
      this.show(freeze.worker);
      for (const news of freeze.parcels) this.parcel(news);
    } else if (this.#state) {
      this.#state = null;
      this.#list.replaceChildren();
      this.#text.textContent = '';
      this.#wait();
    }
  }

  parcel(news) {
    if (news.run !== this.#state?.run) return;
    this.#parcels.set(news.number, news);
    this.#tell();
  }

  /** There is one demonstration at a time, so the button is off until it ends. */
  #wait() {
    const isUnderWay = ['starting', 'frozen', 'awake'].includes(this.#state?.phase);
    this.#button.ariaDisabled = isUnderWay ? 'true' : null;
  }

  #tell() {
    this.#text.textContent = this.#outcome();
    [...this.#list.children].forEach((element, i) => {
      const [state, text] = this.#look(this.#parcels.get(i + 1));
      element.dataset.state = state;
      element.querySelector('.by').textContent = text;
    });
  }

  #outcome() {
    const { phase, worker } = this.#state;
    if (phase === 'starting') return 'Starting a second process…';
    if (phase === 'frozen')
      return `Process ${worker} is frozen. The parcels it holds come back when its 3 s lease ends.`;
    if (phase === 'failed') return 'The worker could not be frozen; the log says why.';
    const taken = [...this.#parcels.values()].filter(({ attempt }) => attempt > 1).length;
    return `Process ${worker} woke up and found its leases lost. The shop packed ${taken} of its parcels instead.`;
  }

  #look(news) {
    if (!news) return ['waiting', 'waiting'];
    const { state, attempt, pid } = news;
    const { worker, phase } = this.#state;
    if (pid === worker)
      return phase === 'frozen' ? ['frozen', 'held by the frozen worker'] : ['packing', 'with the worker'];
    const again = attempt > 1 ? `, attempt ${attempt}` : '';
    return state === 'packed' ? ['packed', `packed here${again}`] : ['packing', `being packed here${again}`];
  }
}

function chip(number) {
  const element = document.createElement('li');
  element.innerHTML = '<span class="parcel"></span><span class="by"></span>';
  element.querySelector('.parcel').textContent = `Parcel ${number}`;
  return element;
}
