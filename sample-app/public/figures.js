const count = document.querySelector('#lateness-count');

/** A lateness for people: milliseconds, or seconds once there are many. */
export function duration(milliseconds) {
  if (milliseconds === null) return '–';
  return milliseconds < 10_000 ? `${milliseconds.toLocaleString()} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

/** Shows how late the latest single orders were cancelled. */
export function showLateness({ lateness, heldUp }) {
  for (const name of ['p50', 'p99']) document.querySelector(`#${name}`).textContent = duration(lateness[name]);
  const others = heldUp === 0 ? '' : ` A pause held up ${heldUp.toLocaleString()} more.`;
  count.textContent = origin(lateness.count) + others;
}

function origin(count) {
  if (count === 0) return 'None has been due yet.';
  return count === 1 ? 'One so far.' : `The latest ${count.toLocaleString()}.`;
}
