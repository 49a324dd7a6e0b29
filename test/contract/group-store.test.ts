import type { MessageBody } from '../../lib/message/codec/message-codec.js';
import { groupOf, linesBefore, unwrapPutOff, wrapPutOff } from '../../lib/message/codec/body-forms.js';
import { groupKeys } from '../../lib/store/native/native-keys.js';
import { GroupStore } from '../../lib/groups/group-store.js';
import { NativeMessageStore } from '../../lib/store/native/native-store.js';
import type { RedisConnections } from '../../lib/redis/redis-connections.js';
import type {
  ClaimedMessage,
  ClaimReport,
  ClaimRequest,
  Settlement,
  SettleReport,
  TransferReport,
  TransferRequest,
} from '../../lib/store/consumer-store.js';
import type { Change, ChangeOutcome, Offer, OfferReceipt } from '../../lib/store/producer-store.js';
import type { PageRequest, StoredMessage, StoredPage } from '../../lib/store/admin-store.js';
import type { ScannedPage } from '../../lib/store/message-past.js';
import type { StoreLimits } from '../../lib/store/message-store.js';
import { wrapGroup } from '../support/of-group.js';
import { isThorough } from '../support/thorough.js';
import type { OpenQueue } from './contract-queue.js';
import { describeMessageStore } from './message-store.contract.js';
import { openRedisQueue } from './redis-queue.js';
import { PREFIX } from './redis-stores.js';
import { describeGroups } from './rules/group.rules.js';
import { describeGroupRates } from './rules/group-rate.rules.js';
import { describeGroupSettings } from './rules/group-settings.rules.js';
import { describeRestoringGroups } from './rules/restore.rules.js';

/** Gives every message a group that its callers do not see. */
class GroupingStore extends NativeMessageStore {
  groupOf = (_id: string) => 'g';

  override offer(offers: readonly Offer[]): Promise<OfferReceipt[]> {
    return super.offer(
      offers.map((offer) => {
        const group = this.groupOf(offer.id);
        return { ...offer, group, body: grouped(Buffer.from(offer.body), group) };
      }),
    );
  }

  override change(id: string, { due, from, to, notAfter }: Change): Promise<ChangeOutcome> {
    const group = this.groupOf(id);
    const bodies = { from: Buffer.from(grouped(from, group)), to: grouped(Buffer.from(to), group) };
    return super.change(id, { due, ...bodies, notAfter });
  }

  override async claim(request: ClaimRequest): Promise<ClaimReport> {
    const report = await super.claim(request);
    return { ...report, messages: report.messages.map(withoutGroup) };
  }

  override settle(settlements: readonly Settlement[]): Promise<SettleReport> {
    return super.settle(
      settlements.map(({ claim, outcome }) => {
        const group = this.groupOf(claim.id);
        if (!('body' in outcome)) return { claim: { ...claim, group }, outcome };
        return {
          claim: { ...claim, group },
          outcome: { ...outcome, body: grouped(Buffer.from(outcome.body!), group) },
        };
      }),
    );
  }

  override async find(id: string): Promise<StoredMessage | null> {
    const found = await super.find(id);
    return found && withoutGroup(found);
  }

  override async scan(cursor?: string): Promise<ScannedPage> {
    const page = await super.scan(cursor);
    const messages = page.messages.map(({ follower, ...message }) => ({
      ...message,
      body: ungrouped(message.body),
      ...(follower && { follower: { ...follower, body: ungrouped(follower.body) } }),
    }));
    return { ...page, messages };
  }

  override async list(request: PageRequest): Promise<StoredPage> {
    const page = await super.list(request);
    return { ...page, messages: page.messages.map(withoutGroup) };
  }
}

function grouped(body: Buffer, group: string): MessageBody {
  const { since, body: inside } = unwrapPutOff(body);
  if (since === null) return wrapGroup(body, group);
  return wrapPutOff(Buffer.from(grouped(inside, group)), since);
}

function withoutGroup<Message extends ClaimedMessage & { readonly name?: string }>(message: Message): Message {
  const { name: _member, ...rest } = message;
  return { ...rest, body: ungrouped(message.body) } as Message;
}

function ungrouped(body: Buffer): Buffer {
  const { since, body: inside } = unwrapPutOff(body);
  if (since !== null) return wrapPutOff(ungrouped(inside), since);
  const group = groupOf(body);
  return group === undefined ? body : body.subarray(Buffer.byteLength(linesBefore({ group })));
}

type OpenStore = (connections: RedisConnections, queue: string) => GroupingStore;

/** Its transfers do not look into backlogs, so they report only the first ready message. */
class CountingStore extends GroupingStore {
  override async transfer(request: TransferRequest): Promise<TransferReport> {
    const report = await super.transfer(request);
    return report.ready > 0 ? { ...report, ready: (await this.status()).counts.ready } : report;
  }
}

const oneGroup =
  (limits: StoreLimits): OpenStore =>
  (connections, queue) =>
    new CountingStore(connections, {
      keys: groupKeys(PREFIX, queue),
      limits,
      groups: '0 hold',
    });

const manyGroups =
  (limits: StoreLimits): OpenStore =>
  (connections, queue) => {
    const store = new GroupingStore(connections, { keys: groupKeys(PREFIX, queue), limits, groups: '1 hold' });
    // Short names, because some rules depend on the size of bodies.
    const groups = new Map<string, string>();
    store.groupOf = (id) => {
      if (!groups.has(id)) groups.set(id, String.fromCodePoint(0x21 + groups.size));
      return groups.get(id)!;
    };
    return store;
  };

describeMessageStore(
  'NativeMessageStore of one group without a limit',
  (limits) => Promise.resolve({ ...openRedisQueue(oneGroup(limits)), keepsOrderOfOffers: true, hasBacklogs: true }),
  { repeats: false },
);

if (isThorough) {
  describeMessageStore(
    'NativeMessageStore of many groups with one permit each',
    (limits) => Promise.resolve({ ...openRedisQueue(manyGroups(limits)), keepsOrderOfOffers: true }),
    { repeats: false },
  );
}

const openGroupStore: OpenQueue = ({ groups, ...limits }) =>
  Promise.resolve(
    openRedisQueue(
      (connections, queue) => new GroupStore(connections, { prefix: PREFIX, queue, limits, rules: groups! }),
    ),
  );

describeGroups('GroupStore', openGroupStore, { canBeDamaged: true });
describeGroupSettings('GroupStore', openGroupStore);
describeGroupRates('GroupStore', openGroupStore);
describeRestoringGroups('GroupStore', openGroupStore);
