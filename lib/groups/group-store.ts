import type { RedisConnections } from '../redis/redis-connections.js';
import type { MessageState } from '../message/message.js';
import type { ClaimReport, ClaimRequest } from '../store/consumer-store.js';
import type { GroupRules, StoreLimits } from '../store/message-store.js';
import type {
  GroupBacklog,
  GroupBacklogs,
  GroupPage,
  GroupPageRequest,
  GroupSettings,
  PermitHolders,
} from '../store/admin-store.js';
import { type GroupKeys, groupKeys, nativeKeys } from '../store/native/native-keys.js';
import { nativeFunctions } from '../store/native/native-library.js';
import { NativeMessageStore } from '../store/native/native-store.js';
import { groupRulesArgument } from '../store/native/script-arguments.js';

/** Approximate number of messages examined by one step through all groups. Takes about 0.5 ms. */
const GROUP_STEP = 1000;

/** Approximate number of groups examined by one step through the groups that have permits in use. */
const BACKLOG_STEP = 500;

/** A queue's messages with groups, in the hash slot of the queue's first partition. */
export class GroupStore extends NativeMessageStore {
  readonly #commands: RedisConnections['commands'];
  readonly #keys: GroupKeys;
  readonly #rules: string;

  constructor(
    connections: RedisConnections,
    {
      prefix,
      queue,
      limits,
      rules,
    }: {
      readonly prefix: string;
      readonly queue: string;
      readonly limits: StoreLimits;
      readonly rules: GroupRules;
    },
  ) {
    const keys = groupKeys(prefix, queue);
    const groups = groupRulesArgument(rules);
    super(connections, { keys, limits, groups, groupRate: rules.rate ?? undefined, others: nativeKeys(prefix, queue) });
    this.#commands = connections.commands;
    this.#keys = keys;
    this.#rules = groups;
  }

  /** Claims. Also repairs if a message has lost its record: its group is then unknown, so only a recount frees its permit. */
  override async claim(request: ClaimRequest): Promise<ClaimReport> {
    const report = await super.claim(request);
    // The claim has been made, so it must not fail with the repair. If the repair fails, the next one does the work.
    if (report.orphans.length > 0) await this.repair(request.lease).catch(() => undefined);
    return report;
  }

  async listGroup({ group, cursor = '', most = GROUP_STEP }: GroupPageRequest): Promise<GroupPage> {
    const args = { group, cursor, size: GROUP_STEP, most };
    const reply = await this.#commands.run(nativeFunctions.group, { keys: this.#keys, args });
    const next = reply.text();
    const members = reply.rest(() => ({ id: reply.text(), state: reply.text() as MessageState }));
    return { members, cursor: next === '' ? null : next };
  }

  async setGroup(group: string, { paused, concurrency }: GroupSettings): Promise<void> {
    const isPaused = paused === undefined ? '' : paused ? 1 : 0;
    const most = concurrency === 'default' ? '-' : concurrency === 'unlimited' ? 0 : (concurrency ?? '');
    const args = { group, paused: isPaused, most, groups: this.#rules };
    await this.#commands.run(nativeFunctions.setGroup, { keys: this.#keys, args });
  }

  async listGroups(cursor = ''): Promise<GroupBacklogs> {
    const args = { cursor, size: BACKLOG_STEP };
    const reply = await this.#commands.run(nativeFunctions.listGroups, { keys: this.#keys, args });
    const total = reply.number();
    const next = reply.text();
    const groups = reply.rest(() => {
      const backlog = { group: reply.text(), waiting: reply.number(), holding: reply.number() };
      return { ...backlog, ...readSettings(reply.text()) };
    });
    return { groups, total, cursor: next === '' ? null : next };
  }

  async listHolders(cursor = ''): Promise<PermitHolders> {
    const reply = await this.#commands.run(nativeFunctions.listHolders, { keys: this.#keys, args: { cursor } });
    const next = reply.text();
    const holders = reply.rest(() => ({ id: reply.text(), group: reply.text() }));
    return { holders, cursor: next === '' ? null : next };
  }
}

/** Reads a group's settings as `lua/modules/groups.lua` describes them; empty: none. */
function readSettings(text: string): Pick<GroupBacklog, 'paused' | 'concurrency'> {
  const [own = '', paused] = text.split(' ');
  return { paused: paused === 'paused', concurrency: own === '' ? undefined : own === '0' ? 'unlimited' : Number(own) };
}
