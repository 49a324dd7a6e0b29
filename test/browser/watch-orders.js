/* global document, MutationObserver, performance, window */
// Runs in the page: notes when each order was seen in which state, in milliseconds since a form was sent.
window.sightings = {};
let sentAt = 0;
document.addEventListener('submit', () => (sentAt = performance.now()), { capture: true });
new MutationObserver(() => {
  for (const row of document.querySelectorAll('[data-order-id]')) {
    const seen = (window.sightings[row.querySelector('.item').textContent] ??= []);
    const { status } = row.dataset;
    if (seen.at(-1)?.status !== status) seen.push({ status, after: performance.now() - sentAt });
  }
}).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ['data-status'] });
