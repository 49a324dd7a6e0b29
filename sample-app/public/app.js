import { connect } from './feed.js';
import { enableForm } from './form.js';
import { showCounts } from './counts.js';
import { OrderList } from './order-list.js';
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
  order: (order) => orders.show(order),
  task: (task) => tasks.show(task),
  counts: showCounts,
});

enableForm(document.querySelector('#place-order'), ({ item, payWithin }) =>
  fetch('/orders', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ ...(item && { item }), ...(payWithin && { payWithin }) }),
  }),
);

enableForm(document.querySelector('#add-task'), ({ task, delay }) =>
  fetch(`/add?${new URLSearchParams({ task, ...(delay && { delay }) })}`, { method: 'POST' }),
);

(function tick() {
  orders.tick();
  tasks.tick();
  // Ten times a second is what the tenths of a second need; none while nobody looks.
  setTimeout(() => requestAnimationFrame(tick), 100);
})();
