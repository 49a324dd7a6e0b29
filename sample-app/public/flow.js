const counts = [...document.querySelectorAll('#counts-orders [data-state]')];

/** Shows how many messages are where on their way. */
export function showCounts({ orders }) {
  for (const element of counts) show(element, orders[element.dataset.state].toLocaleString());
}

/** Shows that this is not known. */
export function hideCounts() {
  for (const element of counts) show(element, '–');
}

function show(element, text) {
  element.textContent = text;
  element.closest('li').classList.toggle('some', text !== '0' && text !== '–');
}
