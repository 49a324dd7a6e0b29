import { enableAction } from '../action.js';
import { post } from '../request.js';
import { addCard } from './card.js';

const STATES = { waiting: 'waiting', sent: 'sent', expired: 'expired: not sent' };

/** Coupons that a slow handler cannot all send before they expire. */
export class CouponCard {
  #card = addCard({
    id: 'coupons',
    title: 'Too late is too late',
    hint: 'Six coupons are due in a second and expire two seconds later. Sending takes 0.7 s each, so the last ones are not sent at all.',
    body: `
          <div class="actions"><button type="button">Send 6 coupons</button></div>
          <ol class="parcels" aria-label="Coupons"></ol>`,
    excerpts: 'offer-coupons send-coupon',
    guides: { 'producing.md#expiry': 'Expiry' },
  });
  #list = this.#card.querySelector('.parcels');
  #run = null;
  /** News may come before the answer that says which coupons these are. */
  #early = [];

  constructor() {
    enableAction(this.#card.querySelector('button'), async () => {
      const { run, coupons } = await post('/coupons');
      this.#run = run;
      this.#list.replaceChildren(...Array.from({ length: coupons }, (_, i) => chip(i + 1)));
      for (const news of this.#early.splice(0)) this.show(news);
    });
  }

  show(news) {
    if (news.run !== this.#run) return void this.#early.push(news);
    say(this.#list.children[news.number - 1], news.state);
  }
}

function chip(number) {
  const element = document.createElement('li');
  element.innerHTML = '<span class="parcel"></span><span class="by"></span>';
  element.querySelector('.parcel').textContent = `Coupon ${number}`;
  say(element, 'waiting');
  return element;
}

function say(element, state) {
  element.dataset.state = { waiting: 'waiting', sent: 'packed', expired: 'frozen' }[state];
  element.querySelector('.by').textContent = STATES[state];
}
