import type { GroupRules } from '../../lib/store/message-store.js';

/** How many messages of another group may be claimed while one group waits: its own, and one because a claim could take more than one of each group. */
const MAX_SERVED = 2;

/** The ready messages of groups, and the holders of permits: a message takes one when it is claimed, unless it already has one. */
export class GroupBacklogs {
  /** The messages that have a permit, whatever their state. */
  readonly permits = new Set<string>();
  /** By group: ready messages without a permit, in order of arrival. */
  readonly #backlogs = new Map<string, string[]>();
  /** Ready messages that have a permit: they were active before. */
  readonly #returned = new Set<string>();
  /** The groups that are paused. */
  readonly paused = new Set<string>();
  /** The concurrency of groups that have their own. */
  readonly concurrencies = new Map<string, number>();
  /** For each group that can be claimed: how many messages of each other group have been claimed since it began to wait. */
  #served = new Map<string, Map<string, number>>();

  constructor(
    private readonly rules: GroupRules,
    private readonly groupOf: (id: string) => string,
  ) {}

  get length(): number {
    return this.#returned.size + [...this.#backlogs.values()].reduce((sum, { length }) => sum + length, 0);
  }

  /** How many messages can be claimed now. */
  get claimable(): number {
    return [...this.groups].reduce((sum, group) => sum + this.claimableOf(group), 0);
  }

  get claimableGroups(): string[] {
    return [...this.groups].filter((group) => this.claimableOf(group) > 0);
  }

  /** Messages of paused groups may be among the ready ones that a claim looks at. */
  get isVague(): boolean {
    return [...this.groups].some((group) => this.paused.has(group));
  }

  claimableOf(group: string): number {
    if (this.paused.has(group)) return 0;
    const returned = [...this.#returned].filter((id) => this.groupOf(id) === group).length;
    return returned + Math.min(this.#backlogOf(group).length, this.#freePermits(group));
  }

  /** The groups that have ready messages. */
  get groups(): Set<string> {
    const waiting = [...this.#backlogs].filter(([, backlog]) => backlog.length > 0).map(([group]) => group);
    return new Set([...waiting, ...[...this.#returned].map(this.groupOf)]);
  }

  add(due: readonly { id: string }[], recovered: readonly { id: string }[]): void {
    this.addFirst([...due.filter(({ id }) => this.permits.has(id)), ...recovered]);
    for (const { id } of due) if (!this.permits.has(id)) this.#backlogOf(this.groupOf(id)).push(id);
    this.noteWaiting();
  }

  addFirst(released: readonly { id: string }[]): void {
    for (const { id } of released) this.#returned.add(id);
    this.noteWaiting();
  }

  /**
   * Removes a message that is no longer ready. If its group may have several, the next one queues up behind other groups: one of them may be
   * there already.
   */
  remove(id: string): void {
    const group = this.groupOf(id);
    const isReady = this.#returned.has(id) || this.#backlogOf(group).includes(id);
    if (isReady && this.#permitsOf(group) > 1) this.#served.delete(group);
    this.#returned.delete(id);
    for (const backlog of this.#backlogs.values()) if (backlog.includes(id)) backlog.splice(backlog.indexOf(id), 1);
  }

  /** True if a claim may take these messages, in this order. */
  mayBeginWith(ids: readonly string[]): boolean {
    return this.#clone().#take(ids);
  }

  /** A claim takes these messages. */
  take(ids: readonly string[]): void {
    this.#take(ids);
    this.noteWaiting();
  }

  /** A claim came to a group with nothing ready. */
  noteVisit(group: string): void {
    this.#served.delete(group);
    this.noteWaiting();
  }

  /** From now on, the groups that can be claimed wait, and no others. */
  noteWaiting(): void {
    const served = new Map<string, Map<string, number>>();
    for (const group of this.claimableGroups) served.set(group, this.#served.get(group) ?? new Map<string, number>());
    this.#served = served;
  }

  #take(ids: readonly string[]): boolean {
    return ids.every((id) => {
      const group = this.groupOf(id);
      const isReturned = this.#returned.has(id);
      if (this.paused.has(group)) return false;
      const isNext = isReturned || (this.#backlogOf(group)[0] === id && this.#freePermits(group) > 0);
      const isFair =
        isReturned || [...this.#served].every(([other, had]) => other === group || (had.get(group) ?? 0) < MAX_SERVED);
      this.remove(id);
      this.permits.add(id);
      if (!isReturned) for (const had of this.#served.values()) had.set(group, (had.get(group) ?? 0) + 1);
      this.#served.delete(group);
      if (this.claimableOf(group) > 0) this.#served.set(group, new Map());
      return isNext && isFair;
    });
  }

  #freePermits(group: string): number {
    const taken = [...this.permits].filter((id) => this.groupOf(id) === group).length;
    return this.#permitsOf(group) - taken;
  }

  #permitsOf(group: string): number {
    return this.concurrencies.get(group) ?? this.rules.concurrency ?? Infinity;
  }

  #backlogOf(group: string): string[] {
    if (!this.#backlogs.has(group)) this.#backlogs.set(group, []);
    return this.#backlogs.get(group)!;
  }

  #clone(): GroupBacklogs {
    const clone = new GroupBacklogs(this.rules, this.groupOf);
    for (const id of this.permits) clone.permits.add(id);
    for (const id of this.#returned) clone.#returned.add(id);
    for (const group of this.paused) clone.paused.add(group);
    for (const [group, concurrency] of this.concurrencies) clone.concurrencies.set(group, concurrency);
    for (const [group, backlog] of this.#backlogs) clone.#backlogs.set(group, [...backlog]);
    clone.#served = new Map([...this.#served].map(([group, had]) => [group, new Map(had)]));
    return clone;
  }
}
