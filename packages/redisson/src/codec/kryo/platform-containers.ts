/** The differences of a collection or a map of Java's own from others. */
export interface ContainerRules {
  /** True if null elements, keys and values make Java fail. */
  readonly refusesNull?: boolean;
  /** True if its comparator is written, too. Only a natural order can be read. */
  readonly isSorted?: boolean;
  /** True if Kryo writes no flags for nulls. */
  readonly isImmutable?: boolean;
  /** True if Java fails when a value occurs twice. */
  readonly refusesTwins?: boolean;
  /** The fixed number of elements, of which Kryo writes nothing but these. */
  readonly size?: 0 | 1;
}

const refusesNull = { refusesNull: true };
const isSorted = { refusesNull: true, isSorted: true };
const isImmutable = { refusesNull: true, isImmutable: true };
const isImmutableSet = { ...isImmutable, refusesTwins: true };

export const collections: Readonly<Record<string, ContainerRules>> = {
  'java.util.ArrayList': {},
  'java.util.LinkedList': {},
  'java.util.Vector': {},
  'java.util.Stack': {},
  'java.util.Arrays$ArrayList': {},
  'java.util.concurrent.CopyOnWriteArrayList': {},
  'java.util.ImmutableCollections$List12': isImmutable,
  'java.util.ImmutableCollections$ListN': isImmutable,
  'java.util.ImmutableCollections$SubList': isImmutable,
  'java.util.Collections$EmptyList': { size: 0 },
  'java.util.Collections$SingletonList': { size: 1 },
  'java.util.HashSet': {},
  'java.util.LinkedHashSet': {},
  'java.util.TreeSet': isSorted,
  'java.util.concurrent.ConcurrentSkipListSet': refusesNull,
  'java.util.concurrent.CopyOnWriteArraySet': {},
  'java.util.ImmutableCollections$Set12': isImmutableSet,
  'java.util.ImmutableCollections$SetN': isImmutableSet,
  'java.util.Collections$EmptySet': { size: 0 },
  'java.util.Collections$SingletonSet': { size: 1 },
  'java.util.ArrayDeque': refusesNull,
  'java.util.PriorityQueue': isSorted,
  'java.util.concurrent.ConcurrentLinkedQueue': refusesNull,
  'java.util.concurrent.ConcurrentLinkedDeque': refusesNull,
};

export const maps: Readonly<Record<string, ContainerRules>> = {
  'java.util.HashMap': {},
  'java.util.LinkedHashMap': {},
  'java.util.WeakHashMap': {},
  'java.util.TreeMap': { isSorted: true },
  'java.util.Hashtable': refusesNull,
  'java.util.Properties': refusesNull,
  'java.util.concurrent.ConcurrentHashMap': refusesNull,
  'java.util.concurrent.ConcurrentSkipListMap': isSorted,
  'java.util.ImmutableCollections$Map1': isImmutable,
  'java.util.ImmutableCollections$MapN': isImmutable,
  'java.util.Collections$EmptyMap': { size: 0 },
  'java.util.Collections$SingletonMap': { size: 1 },
};
