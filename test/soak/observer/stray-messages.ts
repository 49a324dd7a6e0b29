import type { Cluster, Redis } from 'ioredis';
import type { QueueKeys } from './queue-keys.js';

/** KEYS messages delayed ready dead claims [permits backlog]; the backlogs of groups are in the hash slot of the other keys. */
const COUNT_STRAY = `
local stray = redis.call('HLEN', KEYS[1]) - redis.call('ZCARD', KEYS[2]) - redis.call('LLEN', KEYS[3]) - redis.call('ZCARD', KEYS[4])
local active = {}
for _, held in ipairs(redis.call('HVALS', KEYS[5])) do
  for id in string.gmatch(held, '[^\\n]+') do
    stray = stray - (active[id] and 0 or 1)
    active[id] = true
  end
end
for _, group in ipairs(KEYS[6] and redis.call('HKEYS', KEYS[6]) or {}) do
  stray = stray - redis.call('LLEN', KEYS[7] .. group)
end
return stray`;

/** KEYS permits ready claims held */
const COUNT_MISCOUNTED = `
local taken = redis.call('LLEN', KEYS[2]) + redis.call('HLEN', KEYS[4])
local active = {}
for _, held in ipairs(redis.call('HVALS', KEYS[3])) do
  for id in string.gmatch(held, '[^\\n]+') do
    taken = taken + (active[id] and 0 or 1)
    active[id] = true
  end
end
local permits = redis.call('HGETALL', KEYS[1])
for at = 1, #permits, 2 do
  if permits[at] ~= '' then
    taken = taken - (#permits[at + 1] == 8 and struct.unpack('>I4', permits[at + 1]) or tonumber(permits[at + 1]))
  end
end
return math.abs(taken)`;

/** @returns how many messages of a queue, or of one of its partitions, are stored but in no state */
export async function countStray(
  redis: Redis | Cluster,
  { repaired, groups }: Pick<QueueKeys, 'repaired' | 'groups'>,
): Promise<number> {
  const { messages, delayed, ready, dead, claims } = repaired;
  const keys = [messages, delayed, ready, dead, claims, ...(groups ? [groups.permits, groups.backlog] : [])];
  return Math.max(0, (await redis.eval(COUNT_STRAY, keys.length, ...keys)) as number);
}

/** @returns how many claims of a queue, or of one of its partitions, have no lease */
export async function countUnleased(
  redis: Redis | Cluster,
  { repaired: { claims, leases } }: Pick<QueueKeys, 'repaired'>,
): Promise<number> {
  const [tokens, leased] = (await redis.multi().hkeys(claims).zrange(leases, 0, '-1').exec()) ?? [];
  const known = new Set(leased?.[1] as string[]);
  return (tokens?.[1] as string[]).filter((token) => !known.has(token)).length;
}

/** @returns the number of permits of groups that no message has, or more than one */
export async function countMiscounted(
  redis: Redis | Cluster,
  { repaired: { ready, claims }, groups }: Pick<QueueKeys, 'repaired' | 'groups'>,
): Promise<number> {
  if (!groups) return 0;
  return (await redis.eval(COUNT_MISCOUNTED, 4, groups.permits, ready, claims, groups.held)) as number;
}
