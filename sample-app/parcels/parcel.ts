/** The payload of the messages in queue `parcels`. */
export interface Parcel {
  /** The demonstration it belongs to. */
  readonly run: string;
  /** 1 for the first. */
  readonly number: number;
}

/** What happens to a parcel, reported by the process that handles it. */
export interface ParcelNews extends Parcel {
  readonly state: 'packing' | 'packed';
  readonly attempt: number;
  /** The id of that process. */
  readonly pid: number;
}
