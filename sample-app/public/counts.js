const STATES = ['delayed', 'ready', 'active', 'dead'];

/** Shows that they are not known. */
export function hideCounts() {
  for (const cell of document.querySelectorAll('[data-count]')) {
    cell.dataset.count = '0';
    cell.textContent = '–';
  }
}

/** Fills the table of the queues. */
export function showCounts(counts) {
  for (const [queue, ofQueue] of Object.entries(counts)) {
    const row = document.querySelector(`#counts-${queue}`);
    STATES.forEach((state, i) => {
      const cell = row.cells[i + 1] ?? row.insertCell();
      cell.dataset.state = state;
      cell.dataset.count = ofQueue[state];
      cell.textContent = ofQueue[state].toLocaleString();
    });
  }
}
