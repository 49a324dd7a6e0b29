/** What happens to an export. Instants are ISO 8601. */
export interface ExportNews {
  readonly id: string;
  readonly state: 'running' | 'stopped' | 'done';
  /** How much is written, percent. */
  readonly percent: number;
  readonly at: string;
}
