/** What the messages of the queue `parcels` say. */
export interface Parcel {
  /** The demonstration it belongs to. */
  readonly run: string;
  /** 1 for the first. */
  readonly number: number;
}

/** What happens to a parcel, as the process that does it tells. */
export interface ParcelNews extends Parcel {
  readonly state: 'packing' | 'packed';
  readonly attempt: number;
  /** The process. */
  readonly pid: number;
}
