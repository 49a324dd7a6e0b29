const counts = [...document.querySelectorAll('#counts-orders [data-state]')];

/** Shows how many messages are in each state. */
export function showCounts({ orders }) {
  for (const element of counts) show(element, orders[element.dataset.state].toLocaleString());
}

/** Shows that the counts are unknown. */
export function hideCounts() {
  for (const element of counts) show(element, '–');
}

function show(element, text) {
  element.textContent = text;
  element.closest('li').classList.toggle('some', text !== '0' && text !== '–');
}
