/** A Redis (or Valkey) server of a test's own: it may crash, freeze and come back. It dies with this process at the latest. */
export interface TestRedis {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** The process id of the running server; undefined in a container, and while it is down. */
  readonly pid: number | undefined;

  /** Ends it at once, as a power failure would. */
  kill9(): Promise<void>;
  /** Starts it again on the same port and folder; one that still runs is shut down in order first. */
  restart(): Promise<void>;
  /** Holds it still: connections stay open, nothing is answered. */
  freeze(): Promise<void>;
  /** Lets it go on after {@link freeze}. */
  thaw(): Promise<void>;
  /** Ends it for good and removes its folder, unless that was given. */
  stop(): Promise<void>;
}

export interface TestRedisOptions {
  /** More arguments of the server, for example `['--appendonly', 'yes']`; they override the defaults below. */
  readonly args?: readonly string[];
  /** More variables of its environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** The text of its configuration file, which the server may rewrite. A sentinel needs one. Default: no file. */
  readonly config?: string;
  /** The folder of its data. Default: a temporary one. */
  readonly dir?: string;
  /** Default: a random free one. */
  readonly port?: number;
}

/** Nothing on disk: a server that was restarted is empty, unless the arguments say otherwise. */
export const IN_MEMORY = ['--save', '', '--appendonly', 'no'] as const;
