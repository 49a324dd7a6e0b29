import type { FaultWindow } from '../nemesis/fault-window.js';
import { FindingList } from './finding-list.js';
import type { History, Stall } from './history.js';
import { FORGOTTEN, Forgetting } from './forgetting.js';
import type { GroupRules } from './group-rules.js';
import { GroupJudge } from './group-judge.js';
import { LatenessMeter } from './lateness-meter.js';
import { type ClaimStory, type MessageStory, tellStory } from './message-story.js';
import { findCorrupt, findDamaged } from './rules/corrupt.js';
import { attribute, UNATTRIBUTED } from './rules/duplicate.js';
import { findEarly } from './rules/early.js';
import { findExpiredEarly, findOverdue } from './rules/expiry.js';
import { findHostage } from './rules/hostage.js';
import { findLost } from './rules/lost.js';
import { findRevived } from './rules/revived.js';
import { findStaleSettle } from './rules/stale-settle.js';
import { findUndone } from './rules/undone.js';
import type { Verdict } from './verdict.js';

export interface Evidence {
  readonly history: History;
  readonly windows: readonly FaultWindow[];
  /** The numbers of the messages that ended as dead letters. */
  readonly deadLetters: ReadonlySet<number>;
  /** For how long after its end a fault is still blamed, ms. */
  readonly recovery: number;
  /** Undefined: messages have no groups. */
  readonly groups?: GroupRules | undefined;
}

/** Judges a run by its journals alone. */
export function judge(evidence: Evidence): Verdict {
  const { history, recovery } = evidence;
  const stalls = history.stalls.map(stallWindow);
  const windows = [...evidence.windows, ...stalls];
  const court = new Court(windows, evidence);
  const meter = new LatenessMeter(windows, recovery);
  for (const { n, entries } of history.byMessage()) {
    const story = tellStory(n, entries);
    court.hear(story);
    meter.measure(story.claims);
  }
  const { corrupt, duplicates } = court;
  const groups = court.groups.judge();
  for (let i = 0; i < history.unreadable; i++) corrupt.add(NaN, 'a handler received something that nobody offered');
  const byCause = Object.fromEntries([...duplicates].sort(([, a], [, b]) => b - a));
  const { crowded, overtaken } = court.groups;
  const findings = { ...court.findings, corrupt, crowded, overtaken };
  return { ...court.count, ...findings, groups, duplicates: byCause, stalls, lateness: meter.report() };
}

/** Judges one message after the other. */
class Court {
  readonly count = {
    ...{ acknowledged: 0, unknown: 0, failed: 0, handled: 0, cancelled: 0, starts: 0, refusedSettles: 0 },
    ...{ changed: 0, followed: 0, aborted: 0, expired: 0 },
  };
  readonly corrupt = new FindingList();
  readonly findings = {
    lost: new FindingList(),
    undone: new FindingList(),
    lostByRedis: new FindingList(),
    hostage: new FindingList(),
    early: new FindingList(),
    revived: new FindingList(),
    unattributed: new FindingList(),
    staleSettles: new FindingList(),
    expiry: new FindingList(),
  };
  readonly duplicates = new Map<string, number>();
  readonly groups: GroupJudge;
  readonly #forgetting: Forgetting;

  constructor(
    private readonly windows: readonly FaultWindow[],
    private readonly evidence: Pick<Evidence, 'deadLetters' | 'history' | 'groups' | 'recovery'>,
  ) {
    this.#forgetting = new Forgetting(windows);
    this.groups = new GroupJudge(evidence.groups, windows, evidence.recovery);
  }

  hear(story: MessageStory): void {
    const { claims } = story;
    this.#tally(story);
    this.#hearEnd(story);
    this.#hearHoldings(story);
    this.#hearTurns(story);
    const early = findExpiredEarly(story);
    if (early) this.findings.expiry.add(story.n, early);
    for (const [at, claim] of claims.entries()) {
      this.#hearClaim(story, claim);
      const earlier = claims[at - 1];
      if (earlier) this.#hearAgain(story, earlier, claim);
    }
  }

  #hearEnd(story: MessageStory): void {
    const { n } = story;
    for (const { offer, problem } of findLost(story, (number) => this.evidence.deadLetters.has(number))) {
      const undone = findUndone(story);
      if (this.#forgetting.mayHaveLost(offer)) this.findings.lostByRedis.add(n, problem);
      else if (undone) this.findings.undone.add(n, undone);
      else this.findings.lost.add(n, problem);
    }
  }

  #hearHoldings(story: MessageStory): void {
    const { windows } = this;
    const lastSignOf = (process: number) => this.evidence.history.lastSignOf(process);
    for (const holding of story.holdings) {
      const hostage = findHostage(story, holding, { lastSignOf, windows });
      if (hostage) this.findings.hostage.add(story.n, hostage);
    }
  }

  /** Skips messages that Redis forgot, because nobody knows who had which permit. */
  #hearTurns(story: MessageStory): void {
    if (story.claims.some((claim) => this.#forgetting.mayHaveMisled(story, claim))) return;
    this.groups.hear(story, (process) => this.evidence.history.lastSignOf(process));
  }

  #hearClaim(story: MessageStory, claim: ClaimStory): void {
    const { early, revived, staleSettles, expiry } = this.findings;
    const rules = [
      [findEarly, early],
      [findCorrupt, this.corrupt],
      [findRevived, revived],
      [findStaleSettle, staleSettles],
      [findOverdue, expiry],
    ] as const;
    const rulesOfOldStates = [[findDamaged, this.corrupt]] as const;
    for (const [find, list] of this.#forgetting.mayHaveMisled(story, claim) ? rulesOfOldStates : rules) {
      const problem = find(story, claim);
      if (problem) list.add(story.n, problem);
    }
  }

  #hearAgain(story: MessageStory, earlier: ClaimStory, later: ClaimStory): void {
    const fault = attribute(story, [earlier, later], this.windows);
    const isForgotten = fault === UNATTRIBUTED && this.#forgetting.mayHaveMisled(story, later);
    const cause = isForgotten ? FORGOTTEN : fault;
    if (cause === UNATTRIBUTED) {
      const { process, startedAt, settle } = earlier;
      const fate = settle ? `whose ${settle.outcome} was ${settle.result} at ${settle.at}` : 'which was never settled';
      this.findings.unattributed.add(
        story.n,
        `started at ${later.startedAt} by process ${later.process}, after ${startedAt} by process ${process}, ${fate}`,
      );
    } else {
      this.duplicates.set(cause, (this.duplicates.get(cause) ?? 0) + 1);
    }
  }

  #tally({ offers, changes, claims, expiries }: MessageStory): void {
    const { count } = this;
    const isDone = (wanted: string) => changes.some(({ kind, outcome }) => kind === wanted && outcome === 'done');
    for (const { outcome, how } of offers) {
      if (outcome === 'ok') count.acknowledged++;
      else count[outcome]++;
      if (outcome === 'ok' && how === 'change') count.changed++;
      if (outcome === 'ok' && how === 'follow') count.followed++;
    }
    if (isDone('cancel')) count.cancelled++;
    if (isDone('abort')) count.aborted++;
    if (expiries.length > 0) count.expired++;
    if (claims.some(({ end }) => end?.how === 'handled')) count.handled++;
    count.starts += claims.length;
    count.refusedSettles += claims.filter(({ settle }) => settle?.result === 'refused').length;
  }
}

function stallWindow({ process, from, to }: Stall): FaultWindow {
  const detail = `for ${to - from} ms`;
  return { kind: 'stalled by the machine', from, to, processes: [process], detail, costsLeases: true, injected: false };
}
