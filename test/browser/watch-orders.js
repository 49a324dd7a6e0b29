/* global document, FormData, MutationObserver, performance, window */
// Runs in the page and records when each order appeared in which state, in milliseconds since its form was sent.
window.sightings = {};
const sentAt = {};
document.addEventListener('submit', ({ target }) => (sentAt[new FormData(target).get('item')] = performance.now()), {
  capture: true,
});
new MutationObserver(() => {
  for (const row of document.querySelectorAll('[data-order-id]')) {
    const item = row.querySelector('.item').textContent;
    const seen = (window.sightings[item] ??= []);
    const { status } = row.dataset;
    if (seen.at(-1)?.status !== status) seen.push({ status, after: performance.now() - sentAt[item] });
  }
}).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ['data-status'] });
