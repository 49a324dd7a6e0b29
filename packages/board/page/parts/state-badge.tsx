import type { StateName } from '../../src/api.js';

export const STATES: readonly StateName[] = ['delayed', 'ready', 'active', 'dead'];

const MEANINGS: Readonly<Record<StateName, string>> = {
  delayed: 'Waits until it is due',
  ready: 'Is due and waits for a consumer',
  active: 'Is being handled',
  dead: 'Has failed for good',
};

export function StateBadge({ state }: { readonly state: StateName }) {
  return (
    <span class={`badge ${state}`} title={MEANINGS[state]}>
      {state}
    </span>
  );
}
