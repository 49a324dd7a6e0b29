/** The targets of faults. Each group has its colour, by this name in the page's style. */
export const FAULT_GROUPS = ['server', 'network', 'process', 'machine'] as const;
export type FaultGroup = (typeof FAULT_GROUPS)[number];

export const GROUP_NAMES: Readonly<Record<FaultGroup, string>> = {
  server: 'the server',
  network: 'connections',
  process: 'processes',
  machine: 'the machine, not the nemesis',
};

/** Kinds of faults begin with what they strike. */
export function groupOf(kind: string): FaultGroup {
  if (kind.endsWith('by the machine')) return 'machine';
  if (/^(worker|producer)/.test(kind)) return 'process';
  return /^(server|out of memory|scripts|permission|data|delayed|log)/.test(kind) ? 'server' : 'network';
}
