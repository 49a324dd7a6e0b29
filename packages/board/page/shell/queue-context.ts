import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { QueueView } from '../../src/api.js';

export const QueueContext = createContext<QueueView | undefined>(undefined);

/** The queue whose view is shown; undefined until it has been read. */
export function useQueue(): QueueView | undefined {
  return useContext(QueueContext);
}
