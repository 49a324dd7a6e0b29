import { BatchCard } from './cards/batch-card.js';
import { showCode } from './code.js';
import { dealCards } from './columns.js';
import { readDuration } from './duration.js';
import { CouponCard } from './cards/coupon-card.js';
import { ExportCard } from './cards/export-card.js';
import { FailureCard } from './cards/failure-card.js';
import { connect } from './feed.js';
import { showLateness } from './figures.js';
import { placeFirstOrder } from './first-order.js';
import { hideCounts, showCounts } from './flow.js';
import { enableForm } from './form.js';
import { OrderList } from './order-list.js';
import { PauseCard } from './cards/pause-card.js';
import { post } from './request.js';
import { setServerTime } from './server-clock.js';
import { TaskList } from './task-list.js';
import { addTrialCards } from './cards/trial-cards.js';
import { WorkerCard } from './cards/worker-card.js';

for (const details of document.querySelectorAll('.code')) showCode(details);

const orders = new OrderList();
const tasks = new TaskList();
const batch = new BatchCard();
const failures = new FailureCard();
const trials = addTrialCards();
const coupons = new CouponCard();
const exports = new ExportCard();
const pause = new PauseCard();
const worker = new WorkerCard();
dealCards([...document.querySelectorAll('.cards > .card')]);

const shown = {
  counts(counts) {
    showCounts(counts);
    failures.show(counts);
    orders.redrivable(counts.redrivable);
  },
  figures(figures) {
    showLateness(figures);
    batch.show(figures.batch);
  },
  switches(states) {
    orders.switched(states);
    failures.switched(states);
    pause.switched(states);
  },
  order: (order) => orders.show(order),
  task: (task) => tasks.show(task),
  coupon: (news) => coupons.show(news),
  export: (news) => exports.show(news),
  trial: (news) => trials[news.trial].show(news),
  parcel: (news) => worker.parcel(news),
  'frozen-worker': (state) => worker.show(state),
};

connect({
  ...shown,
  snapshot(shop) {
    setServerTime(shop.now);
    document.querySelector('#store').textContent = `on ${shop.store.label}`;
    worker.available(shop.store);
    worker.showAll(shop.freeze);
    orders.showAll(shop.orders);
    tasks.showAll(shop.tasks);
    for (const type of ['switches', 'counts', 'figures']) shown[type](shop[type]);
    placeFirstOrder(shop.orders);
  },
  away() {
    orders.away();
    tasks.away();
    hideCounts();
  },
});

enableForm(document.querySelector('#place-order'), ({ item, payWithin, payWithinUnit }) =>
  post('/orders', { ...(item && { item }), payWithin: readDuration('Pay within', payWithin, payWithinUnit) }),
);

enableForm(document.querySelector('#add-task'), ({ task, delay, delayUnit }) =>
  post(`/add?${new URLSearchParams({ task, delay: `${readDuration('Due in', delay, delayUnit)}ms` })}`),
);

(function tick() {
  orders.tick();
  tasks.tick();
  batch.tick();
  for (const trial of Object.values(trials)) trial.tick();
  // Countdowns show tenths of a second, so tick ten times a second; not at all while the page is hidden.
  setTimeout(() => requestAnimationFrame(tick), 100);
})();
