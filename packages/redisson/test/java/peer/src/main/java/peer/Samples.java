package peer;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Values that JSON cannot ask for, by name. */
final class Samples {
  /** A class of an application, as opposed to one of Java's own. */
  interface Bean {}

  enum Status {
    NEW,
    PAID
  }

  enum Shape implements Bean {
    ROUND {
      @Override
      public String toString() {
        return "round";
      }
    }
  }

  static class Address implements Bean {
    public String city;
    public Address previous;

    static Address in(String city, Address previous) {
      Address address = new Address();
      address.city = city;
      address.previous = previous;
      return address;
    }
  }

  /** One field of each kind that Jackson treats in a way of its own. */
  static class Order implements Bean {
    public String id;
    public boolean paid;
    public int items;
    public long number;
    public Long boxed;
    public double weight;
    public BigDecimal total;
    public Date placed;
    public Status status;
    public Address address;
    public List<String> tags;
    public List<Address> stops;
    public String[] labels;
    public int[] quantities;
    public byte[] seal;
    public Map<String, Long> counts;
    public Object anything;
    public String nothing;
  }

  private static final Date DATE = new Date(1_700_000_000_123L);

  private Samples() {}

  static Object named(String name) {
    Object sample = all().get(name);
    if (sample == null) {
      throw new IllegalArgumentException("There is no sample " + name);
    }
    return sample;
  }

  static Map<String, Object> all() {
    Map<String, Object> samples = new LinkedHashMap<>();
    addScalars(samples);
    addArrays(samples);
    addCollections(samples);
    samples.put("bean", order());
    samples.put("empty bean", new Order());
    samples.put("list of beans", list(Address.in("Bern", null), Address.in("Kyiv", Address.in("Oslo", null))));
    return samples;
  }

  private static void addScalars(Map<String, Object> samples) {
    samples.put("Integer", 5);
    samples.put("Long", 5L);
    samples.put("greatest Long", Long.MAX_VALUE);
    samples.put("least Long", Long.MIN_VALUE);
    samples.put("greatest safe Long", 9007199254740991L);
    samples.put("first unsafe Long", 9007199254740992L);
    samples.put("Short", (short) 5);
    samples.put("Byte", (byte) -5);
    samples.put("Float", 1.5f);
    samples.put("Double", 0.1);
    samples.put("whole Double", 5.0);
    samples.put("great Double", 1e300);
    samples.put("NaN", Double.NaN);
    samples.put("Infinity", Double.POSITIVE_INFINITY);
    samples.put("Boolean", true);
    samples.put("Character", 'c');
    samples.put("BigInteger", new BigInteger("123456789012345678901234567890"));
    samples.put("small BigInteger", BigInteger.TEN);
    samples.put("BigDecimal", new BigDecimal("12.50"));
    samples.put("long BigDecimal", new BigDecimal("0.12345678901234567890"));
    samples.put("AtomicLong", new AtomicLong(5));
    samples.put("Date", DATE);
    samples.put("Timestamp", new Timestamp(DATE.getTime()));
    samples.put("Instant", Instant.ofEpochMilli(DATE.getTime()));
    samples.put("UUID", UUID.fromString("01234567-89ab-cdef-0123-456789abcdef"));
    samples.put("enum", Status.PAID);
    samples.put("enum of Java", TimeUnit.SECONDS);
    samples.put("enum with a body", Shape.ROUND);
  }

  private static void addArrays(Map<String, Object> samples) {
    samples.put("byte[]", new byte[] {0, 1, -1});
    samples.put("int[]", new int[] {1, 2});
    samples.put("long[]", new long[] {1, 2});
    samples.put("String[]", new String[] {"a", "b"});
    samples.put("Object[]", new Object[] {"a", 5L});
    samples.put("Address[]", new Address[] {Address.in("Bern", null)});
  }

  private static void addCollections(Map<String, Object> samples) {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("text", "a");
    map.put("int", 5);
    map.put("long", 5L);
    map.put("date", DATE);
    map.put("null", null);
    map.put("list", list("a", 5L, list(1, 2)));
    map.put("map", new HashMap<>(Map.of("status", Status.NEW)));
    map.put("bytes", new byte[] {0, 1, -1});
    map.put("ints", new int[] {1, 2});
    map.put("texts", new String[] {"a", "b"});
    map.put("bean", Address.in("Bern", null));
    samples.put("map", map);
    samples.put("empty map", new HashMap<>());
    samples.put("sorted map", new TreeMap<>(Map.of("b", 2, "a", 1)));
    samples.put("immutable map", Map.of("a", 5L));
    samples.put("map of Longs to Longs", new HashMap<>(Map.of(7L, 5L)));
    Map<String, Object> evil = new LinkedHashMap<>();
    evil.put("__proto__", new HashMap<>(Map.of("polluted", "yes")));
    evil.put("constructor", "c");
    samples.put("map of __proto__", evil);
    samples.put("list", list("a", 5, 5L, null, true, 0.5, list(), Map.of()));
    samples.put("empty list", list());
    samples.put("list that looks like a Long", list("java.lang.Long", 5));
    samples.put("list that looks like a list", list("java.util.ArrayList", list("a")));
    samples.put("immutable list", List.of("a", "b"));
    samples.put("list of Arrays", Arrays.asList("a", "b"));
    samples.put("set", new LinkedHashSet<>(list("a", "b")));
  }

  private static Order order() {
    Order order = new Order();
    order.id = "o-1";
    order.paid = true;
    order.items = 3;
    order.number = 9007199254740993L;
    order.boxed = 5L;
    order.weight = 0.5;
    order.total = new BigDecimal("12.50");
    order.placed = DATE;
    order.status = Status.PAID;
    order.address = Address.in("Bern", Address.in("Oslo", null));
    order.tags = list("new", "gift");
    order.stops = list(Address.in("Kyiv", null));
    order.labels = new String[] {"a", "b"};
    order.quantities = new int[] {1, 2};
    order.seal = new byte[] {0, 1, -1};
    order.counts = new HashMap<>(Map.of("clicks", 5L));
    order.anything = list(5L);
    return order;
  }

  @SafeVarargs
  private static <T> List<T> list(T... elements) {
    return new ArrayList<>(Arrays.asList(elements));
  }
}
