import { useRef, useState } from 'preact/hooks';
import { countOf, formatCount } from '../../parts/format.js';
import { Link } from '../../router.js';
import { scaleTo } from './scale.js';

export interface Bar {
  readonly count: number;
  /** Where its messages are listed. */
  readonly path: string;
  /** The time below it; empty for most. */
  readonly tick: string;
  readonly label: string;
}

interface ChartProps {
  readonly bars: readonly Bar[];
  readonly overdue: { readonly count: number; readonly path: string };
  /** What a bar spans, in one word. */
  readonly unit: string;
}

/** Bars that are links. The tab key reaches one of them, the arrow keys the others. */
export function Chart({ bars, overdue, unit }: ChartProps) {
  const [current, setCurrent] = useState(0);
  const [pointed, setPointed] = useState<number | null>(null);
  const [isTable, setTable] = useState(false);
  const list = useRef<HTMLOListElement>(null);
  const all: readonly Bar[] = overdue.count > 0 ? [{ ...overdue, tick: '', label: 'Overdue' }, ...bars] : bars;
  const { top, lines } = scaleTo(Math.max(...all.map(({ count }) => count)));

  const move = (event: KeyboardEvent) => {
    const last = all.length - 1;
    const to = { ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = Math.min(Math.max(to, 0), last);
    setCurrent(next);
    list.current?.querySelectorAll('a')[next]?.focus();
  };
  const shown = pointed === null ? undefined : all[pointed];

  return (
    <>
      <div class="chart-head">
        <p class="readout" aria-hidden="true">
          {shown
            ? `${shown.label} · ${countOf(shown.count, 'message')}`
            : `Each bar is one ${unit}. Select one to list its messages.`}
        </p>
        <button type="button" class="small" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          As a table
        </button>
      </div>
      {isTable ? (
        <BarTable bars={all} unit={unit} />
      ) : (
        <div class="chart">
          <div class="lines" aria-hidden="true">
            {lines.map((line) => (
              <span key={line} class="line" style={{ bottom: `${(line / top) * 100}%` }}>
                {formatCount(line)}
              </span>
            ))}
          </div>
          <ol
            ref={list}
            class="bars"
            aria-label={`Messages by ${unit}. The arrow keys move between bars.`}
            onKeyDown={move}
            onMouseLeave={() => setPointed(null)}
          >
            {all.map(({ count, path, tick, label }, i) => (
              <li key={label} class={label === 'Overdue' ? 'overdue' : undefined}>
                <Link
                  to={path}
                  tabIndex={i === Math.min(current, all.length - 1) ? 0 : -1}
                  aria-label={`${label}: ${countOf(count, 'message')}`}
                  onFocus={() => {
                    setCurrent(i);
                    setPointed(i);
                  }}
                  onBlur={() => setPointed(null)}
                  onMouseEnter={() => setPointed(i)}
                >
                  {count > 0 && <span class="bar" style={{ height: `${(count / top) * 100}%` }} />}
                </Link>
                {tick && (
                  <span class="tick" aria-hidden="true">
                    {tick}
                  </span>
                )}
              </li>
            ))}
          </ol>
        </div>
      )}
    </>
  );
}

function BarTable({ bars, unit }: { readonly bars: readonly Bar[]; readonly unit: string }) {
  const filled = bars.filter(({ count }) => count > 0);
  return (
    <table class="plain">
      <caption class="hidden">Messages by {unit}; those without any are left out</caption>
      <thead>
        <tr>
          <th scope="col">When</th>
          <th scope="col" class="number">
            Messages
          </th>
        </tr>
      </thead>
      <tbody>
        {filled.map(({ label, count, path }) => (
          <tr key={label}>
            <th scope="row">{label}</th>
            <td class="number">
              <Link to={path}>{formatCount(count)}</Link>
            </td>
          </tr>
        ))}
        {filled.length === 0 && (
          <tr>
            <td colSpan={2}>No messages</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}
