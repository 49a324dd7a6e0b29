import { connect } from './feed.js';
import { readDuration } from './duration.js';
import { enableForm } from './form.js';
import { hideCounts, showCounts } from './counts.js';
import { OrderList } from './order-list.js';
import { post } from './request.js';
import { TaskList } from './task-list.js';
import { setServerTime } from './server-clock.js';

const orders = new OrderList();
const tasks = new TaskList();

connect({
  snapshot(shop) {
    setServerTime(shop.now);
    document.querySelector('#store').textContent = `on ${shop.store}`;
    orders.showAll(shop.orders);
    tasks.showAll(shop.tasks);
    showCounts(shop.counts);
  },
  away() {
    orders.away();
    tasks.away();
    hideCounts();
  },
  order: (order) => orders.show(order),
  task: (task) => tasks.show(task),
  counts: showCounts,
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
  // Ten times a second is what the tenths of a second need; none while nobody looks.
  setTimeout(() => requestAnimationFrame(tick), 100);
})();
