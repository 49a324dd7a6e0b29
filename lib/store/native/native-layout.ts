import { nativeCodec } from '../../message/codec/native-codec.js';
import { isFamily } from '../../message/queue-name.js';
import type { Layout } from '../layout.js';
import { type NeededCommand, neededCommands } from '../../redis/check/permissions.js';
import { groupKeys, type GroupKeys, nativeKeys } from './native-keys.js';
import { neededByFamily } from './native-directory.js';
import { PlainRouter } from '../router.js';
import { nativeLibrary } from './native-library.js';
import { NativeMessageStore } from './native-store.js';
import { groupPermissions, neededInCluster, partitionPermissions } from './native-permissions.js';

export const nativeLayout: Layout = {
  name: 'native',
  can: {
    headers: true,
    types: true,
    partitions: true,
    families: true,
    expiry: true,
    followers: true,
    changes: true,
    debounce: true,
    groups: true,
    repeats: true,
    otherConsumers: false,
    severalQueues: true,
  },
  codec: nativeCodec,
  library: nativeLibrary,

  open: (connections, { prefix, queue, limitsOf }) =>
    new PlainRouter(new NativeMessageStore(connections, { keys: nativeKeys(prefix, queue), limits: limitsOf(1) })),

  neededCommands({ prefix, queue, partitions, groups, isCluster }) {
    const ofQueue = Array.from({ length: partitions }, (_, partition) => {
      const keys = nativeKeys(prefix, queue, partition);
      return [...neededCommands(partitionPermissions, keys), ...(isCluster ? neededInCluster(keys) : [])];
    }).flat();
    return [
      ...ofQueue,
      ...(groups ? neededByGroups(groupKeys(prefix, queue), isCluster) : []),
      ...(isFamily(queue) ? neededByFamily(prefix, { name: queue, hasGroups: Boolean(groups) }) : []),
    ];
  },
};

function neededByGroups(keys: GroupKeys, isCluster: boolean): NeededCommand[] {
  return [...neededCommands(groupPermissions, keys), ...(isCluster ? neededInCluster(keys) : [])];
}
