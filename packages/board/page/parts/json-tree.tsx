import { useState } from 'preact/hooks';
import { countOf } from './format.js';

/** Entries of an object or list that are shown at once. */
const STEP = 100;
/** Levels that are open at first. */
const OPEN_LEVELS = 2;
/** Characters of a text that are shown at first. */
const SHOWN_TEXT = 2000;

interface NodeProps {
  readonly name?: string;
  readonly value: unknown;
  readonly level: number;
}

/** JSON as a tree whose branches are drawn when they are opened. */
export function JsonTree({ value }: { readonly value: unknown }) {
  return (
    <div class="tree">
      <Node value={value} level={0} />
    </div>
  );
}

function Node({ name, value, level }: NodeProps) {
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value);
    if (entries.length > 0) return <Branch name={name} value={value} entries={entries} level={level} />;
  }
  return (
    <div class="leaf">
      <Name name={name} />
      <Leaf value={value} />
    </div>
  );
}

interface BranchProps {
  readonly name: string | undefined;
  readonly value: object;
  readonly entries: readonly (readonly [string, unknown])[];
  readonly level: number;
}

function Branch({ name, value, entries, level }: BranchProps) {
  // A long list stays closed, so that what follows it is seen.
  const [isOpen, setOpen] = useState(level < OPEN_LEVELS && (level === 0 || entries.length <= 20));
  const [shown, setShown] = useState(STEP);
  const size = Array.isArray(value) ? countOf(entries.length, 'item') : countOf(entries.length, 'field');
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Name name={name} />
        <span class="size">
          {open} {size} {close}
        </span>
      </summary>
      {isOpen && (
        <div class="branch">
          {entries.slice(0, shown).map(([key, child]) => (
            <Node key={key} name={key} value={child} level={level + 1} />
          ))}
          {entries.length > shown && (
            <button type="button" class="small" onClick={() => setShown(shown + STEP)}>
              Show {Math.min(STEP, entries.length - shown)} more of {entries.length}
            </button>
          )}
        </div>
      )}
    </details>
  );
}

function Name({ name }: { readonly name: string | undefined }) {
  if (name === undefined) return null;
  return (
    <>
      <span class="key">{name}</span>
      <span class="colon">: </span>
    </>
  );
}

function Leaf({ value }: { readonly value: unknown }) {
  const [isWhole, setWhole] = useState(false);
  if (typeof value !== 'string') return <span class={`value ${typeof value}`}>{JSON.stringify(value)}</span>;
  const text = JSON.stringify(isWhole ? value : value.slice(0, SHOWN_TEXT));
  return (
    <>
      <span class="value string">{text}</span>
      {!isWhole && value.length > SHOWN_TEXT && (
        <button type="button" class="small" onClick={() => setWhole(true)}>
          Show all {countOf(value.length, 'character')}
        </button>
      )}
    </>
  );
}
