import type { QueueNote } from '../../src/api.js';

const BAD: readonly QueueNote['code'][] = ['no-worker', 'partitions-missing', 'overdue'];

/** What somebody on call should know about a queue, in words. */
export function Notes({ notes }: { readonly notes: readonly QueueNote[] }) {
  if (notes.length === 0) return null;
  return (
    <ul class="notes">
      {notes.map(({ code, text }) => (
        <li key={code} class={BAD.includes(code) ? 'bad' : 'warn'}>
          {text}
        </li>
      ))}
    </ul>
  );
}
