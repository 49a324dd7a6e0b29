/** A class of Java's own, as the model knows it. */
export interface PlatformClass {
  readonly name: string;
  readonly isFinal: boolean;
  /** Number of type parameters. */
  readonly parameters: number;
  /** The constants of an enum. */
  readonly constants?: readonly string[];
}

/** By package; `!` marks a final class, and `<n>` one with n type parameters. */
const PACKAGES: Readonly<Record<string, string>> = {
  'java.lang':
    'Object String! Boolean! Character! Byte! Short! Integer! Long! Float! Double! Number CharSequence StringBuilder! StringBuffer! Comparable<1> Iterable<1>',
  'java.util':
    'Date UUID! Locale! Currency! TimeZone Calendar GregorianCalendar Optional!<1> OptionalInt! OptionalLong! OptionalDouble! ' +
    'Collection<1> List<1> ArrayList<1> LinkedList<1> Vector<1> Stack<1> Queue<1> Deque<1> ArrayDeque<1> PriorityQueue<1> ' +
    'Set<1> HashSet<1> LinkedHashSet<1> SortedSet<1> NavigableSet<1> TreeSet<1> EnumSet<1> BitSet ' +
    'Map<2> HashMap<2> LinkedHashMap<2> SortedMap<2> NavigableMap<2> TreeMap<2> EnumMap<2> Hashtable<2> IdentityHashMap<2> WeakHashMap<2> Properties',
  'java.util.concurrent':
    'ConcurrentMap<2> ConcurrentHashMap<2> ConcurrentSkipListMap<2> ConcurrentSkipListSet<1> ConcurrentLinkedQueue<1> ConcurrentLinkedDeque<1> CopyOnWriteArrayList<1> CopyOnWriteArraySet<1>',
  'java.util.concurrent.atomic': 'AtomicBoolean AtomicInteger AtomicLong AtomicReference<1>',
  'java.math': 'BigDecimal BigInteger',
  'java.time':
    'Instant! Duration! Period! LocalDate! LocalTime! LocalDateTime! OffsetTime! OffsetDateTime! ZonedDateTime! Year! YearMonth! MonthDay! ZoneId ZoneOffset!',
  'java.sql': 'Timestamp Date Time',
  'java.net': 'URI! URL!',
  'java.io': 'Serializable',
};

const ENUMS: Readonly<Record<string, string>> = {
  'java.util.concurrent.TimeUnit': 'NANOSECONDS MICROSECONDS MILLISECONDS SECONDS MINUTES HOURS DAYS',
  'java.time.DayOfWeek': 'MONDAY TUESDAY WEDNESDAY THURSDAY FRIDAY SATURDAY SUNDAY',
  'java.time.Month': 'JANUARY FEBRUARY MARCH APRIL MAY JUNE JULY AUGUST SEPTEMBER OCTOBER NOVEMBER DECEMBER',
};

/** Java's own classes that a field may have as its type, by full name. */
export const platformClasses: ReadonlyMap<string, PlatformClass> = new Map(
  [...Object.entries(PACKAGES).flatMap(inPackage), ...Object.entries(ENUMS).map(enumOf)].map((known) => [
    known.name,
    known,
  ]),
);

/** Full names by simple name. `Date` and `Time` of java.sql need their package. */
export const simpleNames: ReadonlyMap<string, string> = new Map(
  [...platformClasses.keys()]
    .filter((name) => !/^java\.sql\.(?:Date|Time)$/.test(name))
    .map((name) => [name.slice(name.lastIndexOf('.') + 1), name]),
);

function inPackage([home, classes]: [home: string, classes: string]): PlatformClass[] {
  return classes.split(' ').map((text) => {
    const [, name, final, parameters] = /^(\w+)(!?)(?:<(\d)>)?$/.exec(text)!;
    return { name: `${home}.${name}`, isFinal: final === '!', parameters: Number(parameters ?? 0) };
  });
}

function enumOf([name, constants]: [name: string, constants: string]): PlatformClass {
  return { name, isFinal: true, parameters: 0, constants: constants.split(' ') };
}
