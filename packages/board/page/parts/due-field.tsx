import { useId } from 'preact/hooks';

/** A due time as it is being entered: a delay from now, or a time in the viewer's zone. */
export interface DueEntry {
  readonly kind: 'in' | 'at';
  readonly amount: string;
  readonly unit: keyof typeof UNITS;
  /** As `<input type="datetime-local">` has it. */
  readonly at: string;
}

const UNITS = { seconds: 1000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 };

export function newDueEntry(): DueEntry {
  return { kind: 'in', amount: '5', unit: 'minutes', at: toLocal(Date.now() + UNITS.hours) };
}

/** Reads an entry: a delay in ms, an ISO time, or undefined if it is not complete. */
export function readDue({ kind, amount, unit, at }: DueEntry): number | string | undefined {
  if (kind === 'in') {
    const delay = Number(amount.replace(',', '.')) * UNITS[unit];
    return amount.trim() !== '' && Number.isFinite(delay) && delay >= 0 ? Math.round(delay) : undefined;
  }
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/** Formats a time for `<input type="datetime-local">`, in the viewer's zone. */
export function toLocal(time: number): string {
  const offset = new Date(time).getTimezoneOffset() * 60_000;
  return new Date(time - offset).toISOString().slice(0, 19);
}

export function DueField({ entry, set }: { readonly entry: DueEntry; readonly set: (entry: DueEntry) => void }) {
  const id = useId();
  return (
    <fieldset class="due-field">
      <legend>New due time</legend>
      <div class="choice">
        <label>
          <input type="radio" name={id} checked={entry.kind === 'in'} onChange={() => set({ ...entry, kind: 'in' })} />
          In
        </label>
        <label>
          <input type="radio" name={id} checked={entry.kind === 'at'} onChange={() => set({ ...entry, kind: 'at' })} />
          At
        </label>
      </div>
      {entry.kind === 'in' ? (
        <div class="duration">
          <input
            aria-label="Amount of time"
            inputMode="decimal"
            value={entry.amount}
            onInput={(event) => set({ ...entry, amount: event.currentTarget.value })}
          />
          <select
            aria-label="Unit of time"
            value={entry.unit}
            onChange={(event) => set({ ...entry, unit: event.currentTarget.value as DueEntry['unit'] })}
          >
            {Object.keys(UNITS).map((unit) => (
              <option key={unit}>{unit}</option>
            ))}
          </select>
        </div>
      ) : (
        <input
          type="datetime-local"
          step="1"
          aria-label="Date and time, in your time zone"
          value={entry.at}
          onInput={(event) => set({ ...entry, at: event.currentTarget.value })}
        />
      )}
    </fieldset>
  );
}
