const STATES = ['delayed', 'ready', 'active', 'dead'];

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
