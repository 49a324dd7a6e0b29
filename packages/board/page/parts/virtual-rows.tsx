import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

/** Rows that are drawn above and below what is seen. */
const SPARE = 12;
/** What a row is taken to be high before one has been measured. */
const GUESS = 48;

interface VirtualRowsProps<Item> {
  readonly items: readonly Item[];
  readonly columns: number;
  /** Renders one row. All rows must be equally high. */
  readonly children: (item: Item, index: number) => ComponentChildren;
}

/** The body of a table that only draws the rows that are seen, with two empty rows as high as those above and below. */
export function VirtualRows<Item>({ items, columns, children }: VirtualRowsProps<Item>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const height = useRef(GUESS);
  const [[from, to], setRange] = useState<readonly [number, number]>([0, 60]);

  useEffect(() => {
    const update = () => {
      if (!body.current) return;
      const row = body.current.querySelector('tr:not(.spacer)');
      if (row) height.current = row.getBoundingClientRect().height || GUESS;
      const { top } = body.current.getBoundingClientRect();
      const first = Math.floor(-top / height.current) - SPARE;
      const last = Math.ceil((innerHeight - top) / height.current) + SPARE;
      const start = Math.max(0, Math.min(first, items.length - 1));
      const end = Math.min(items.length, Math.max(last, start + 1));
      setRange((previous) => (previous[0] === start && previous[1] === end ? previous : [start, end]));
    };
    update();
    addEventListener('scroll', update, { passive: true });
    addEventListener('resize', update);
    return () => {
      removeEventListener('scroll', update);
      removeEventListener('resize', update);
    };
  }, [items]);

  const end = Math.min(to, items.length);
  return (
    <tbody ref={body} role="rowgroup">
      <Spacer rows={from} height={height.current} columns={columns} />
      {items.slice(from, end).map((item, i) => children(item, from + i))}
      <Spacer rows={items.length - end} height={height.current} columns={columns} />
    </tbody>
  );
}

function Spacer({
  rows,
  height,
  columns,
}: {
  readonly rows: number;
  readonly height: number;
  readonly columns: number;
}) {
  if (rows <= 0) return null;
  return (
    <tr class="spacer" aria-hidden="true" style={{ height: `${rows * height}px` }}>
      <td colSpan={columns} />
    </tr>
  );
}
