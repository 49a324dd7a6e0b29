import { Latch } from '../latch.js';
import type { ProxiedConnection } from './proxied-connection.js';
import { encodeRequest, type Request } from './request-parser.js';

/** Tells which connections are meant. */
export type ConnectionFilter = (connection: ProxiedConnection) => boolean;

/** Tells which commands are meant. */
export type RequestFilter = (request: Request, connection: ProxiedConnection) => boolean;

/** What a test watches for: how often it came by. */
export interface Sighting {
  readonly count: number;
}

/** Something held back until it is let go. */
export interface Hold extends Sighting {
  /** Lets go of what is held, and holds nothing any more. */
  release(): void;
}

/** The fault of a command. */
export type Fate =
  'pass' | { readonly instead: Buffer } | { readonly wait: Promise<void> } | { readonly late: Promise<void> };

/** A rule for commands: undefined, if it says nothing about this one. */
export interface RequestRule {
  judge(request: Request, connection: ProxiedConnection): Fate | undefined;
}

/** Counts commands and changes nothing. */
export class Watch implements RequestRule, Sighting {
  count = 0;

  constructor(private readonly which: RequestFilter) {}

  judge(request: Request, connection: ProxiedConnection): undefined {
    if (this.which(request, connection)) this.count++;
  }
}

/**
 * Answers commands with an error reply. The server is sent a script in their place that replies with it, so all answers
 * of a connection stay in order by themselves.
 */
export class ErrorReply implements RequestRule, Sighting {
  count = 0;

  /** @param reply - as Redis words it, such as `READONLY You can't write against a read only replica.` */
  constructor(
    private readonly which: RequestFilter,
    private readonly reply: string,
    private readonly times: number,
  ) {}

  judge(request: Request, connection: ProxiedConnection): Fate | undefined {
    if (this.count >= this.times || !this.which(request, connection)) return undefined;
    this.count++;
    return { instead: encodeRequest('EVAL', 'return redis.error_reply(ARGV[1])', '0', this.reply) };
  }
}

/** Keeps commands from the server, with all that follows on their connections. */
export class HeldRequests implements RequestRule, Hold {
  count = 0;
  #released = false;
  readonly #gate = new Latch();

  constructor(private readonly which: RequestFilter) {}

  judge(request: Request, connection: ProxiedConnection): Fate | undefined {
    if (this.#released || !this.which(request, connection)) return undefined;
    this.count++;
    return { wait: this.#gate.opened };
  }

  release(): void {
    this.#released = true;
    this.#gate.open();
  }
}

/** Cuts clients off right after they have sent commands, and keeps these from the server, with all that follows them. */
export class LateRequests implements RequestRule, Hold {
  count = 0;
  #released = false;
  readonly #gate = new Latch();

  constructor(
    private readonly which: RequestFilter,
    private readonly times: number,
  ) {}

  judge(request: Request, connection: ProxiedConnection): Fate | undefined {
    if (this.#released || this.count >= this.times || !this.which(request, connection)) return undefined;
    this.count++;
    return { late: this.#gate.opened };
  }

  release(): void {
    this.#released = true;
    this.#gate.open();
  }
}

/** Lets commands pass, but keeps their answers from the client, with all that follows on their connections. */
export class HeldReplies implements RequestRule, Hold {
  count = 0;
  #released = false;
  readonly #connections = new Set<ProxiedConnection>();

  constructor(private readonly which: RequestFilter) {}

  judge(request: Request, connection: ProxiedConnection): undefined {
    if (this.#released || !this.which(request, connection)) return;
    this.count++;
    this.#connections.add(connection);
    connection.holdReplies();
  }

  release(): void {
    this.#released = true;
    for (const connection of this.#connections) connection.releaseReplies();
  }
}
