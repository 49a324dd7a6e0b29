package peer;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Timestamp;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Calendar;
import java.util.Date;
import java.util.EnumMap;
import java.util.GregorianCalendar;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TimeZone;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Payloads as services offer them, by name: what one codec or another treats in a way of its own. */
public final class Fixtures {
  public enum Status {
    NEW,
    PAID
  }

  /** Its constants are instances of subclasses. */
  public enum Channel {
    WEB {
      @Override
      int fee() {
        return 0;
      }
    },
    SHOP {
      @Override
      int fee() {
        return 1;
      }
    };

    abstract int fee();
  }

  public static class Primitives {
    public int count;
    public long number;
    public long small;
    public short port;
    public byte level;
    public char grade;
    public boolean paid;
    public float ratio;
    public double weight;
    public double zero;
    public double price;
    public double huge;
    public double tiny;

    Primitives filled() {
      count = 3;
      number = 9007199254740993L;
      small = 5L;
      port = 443;
      level = -5;
      grade = 'ä';
      paid = true;
      ratio = 1.1f;
      weight = 0.5;
      zero = 0.0;
      price = 12.50;
      huge = 1e21;
      tiny = 1.0E-5;
      return this;
    }
  }

  public static class Boxes {
    public Integer count;
    public Long number;
    public Long small;
    public Short port;
    public Byte level;
    public Character grade;
    public Boolean paid;
    public Float ratio;
    public Double weight;

    Boxes filled() {
      count = 3;
      number = 9007199254740993L;
      small = 5L;
      port = 443;
      level = -5;
      grade = 'b';
      paid = false;
      ratio = 0.1f;
      weight = 7.0;
      return this;
    }
  }

  public static class BigNumbers {
    public BigDecimal price;
    public BigDecimal whole;
    public BigDecimal precise;
    public BigInteger small;
    public BigInteger great;

    BigNumbers filled() {
      price = new BigDecimal("12.50");
      whole = new BigDecimal("100");
      precise = new BigDecimal("1234567890.1234567890");
      small = BigInteger.TEN;
      great = new BigInteger("123456789012345678901234567890");
      return this;
    }
  }

  public static class Texts {
    public String orderId;
    public String empty;
    public String emoji;
    public String escapes;
    public String number;
    public String wrapped;

    Texts filled() {
      orderId = "o-1";
      empty = "";
      emoji = "paid 😀 é 日本";
      escapes = "\"quoted\" \\ / \n\t\u0001\u007f\u2028";
      number = "12.50";
      wrapped = "java.lang.Long";
      return this;
    }
  }

  public static class Dates {
    public Date placedAt;
    public Date epoch;
    public Timestamp paidAt;
    public Calendar shippedAt;

    Dates filled() {
      placedAt = new Date(1_700_000_000_123L);
      epoch = new Date(0);
      paidAt = new Timestamp(1_700_000_000_123L);
      shippedAt = calendar(1_700_000_000_123L);
      return this;
    }
  }

  /** What Kryo reads only in some versions, and Jackson writes differently in one. */
  public static class Rarities {
    public UUID id;
    public Object anyId;
    public List<UUID> moreIds;
    public EnumMap<Status, String> byStatus;
    public AtomicLong views;
    public AtomicInteger tries;
    public AtomicBoolean closed;

    Rarities filled() {
      id = UUID.fromString("01234567-89ab-cdef-0123-456789abcdef");
      anyId = UUID.fromString("01234567-89ab-cdef-0123-456789abcdef");
      moreIds = list(UUID.fromString("01234567-89ab-cdef-0123-456789abcdef"));
      byStatus = map(new EnumMap<>(Status.class), Status.PAID, "p", Status.NEW, "n");
      views = new AtomicLong(5);
      tries = new AtomicInteger(2);
      closed = new AtomicBoolean(true);
      return this;
    }
  }

  public static class Enums {
    public Status status;
    public Channel channel;
    public List<Status> history;
    public Set<Channel> channels;

    Enums filled() {
      status = Status.PAID;
      channel = Channel.SHOP;
      history = list(Status.NEW, Status.PAID);
      channels = new LinkedHashSet<>(list(Channel.WEB));
      return this;
    }
  }

  public static class ArrayFields {
    public String[] tags;
    public String[] classLike;
    public int[] counts;
    public long[] numbers;
    public double[] weights;
    public byte[] seal;
    public boolean[] flags;
    public String[] none;

    ArrayFields filled() {
      tags = new String[] {"new", "gift"};
      classLike = new String[] {"com.shop.Order", "x"};
      counts = new int[] {1, 2};
      numbers = new long[] {5, 9007199254740993L};
      weights = new double[] {0.0, 12.50};
      seal = new byte[] {0, 1, -1};
      flags = new boolean[] {true, false};
      none = new String[] {};
      return this;
    }
  }

  public static class ObjectArrays {
    public Object[] anything;
    public Long[] numbers;
    public Integer[] counts;
    public Item[] items;
    public Status[] statuses;
    public String[][] table;

    ObjectArrays filled() {
      anything = new Object[] {"a", 5L, 7, null};
      numbers = new Long[] {5L, 7L};
      counts = new Integer[] {1, 2};
      items = new Item[] {item("a"), item("b")};
      statuses = new Status[] {Status.NEW};
      table = new String[][] {{"a", "b"}, {}};
      return this;
    }
  }

  public static class CollectionFields {
    public List<String> tags;
    public List<Long> numbers;
    public ArrayList<Object> anything;
    public LinkedList<String> queue;
    public Set<String> labels;
    public HashSet<Integer> counts;
    public LinkedHashSet<Date> dates;
    public List<List<Long>> nested;

    CollectionFields filled() {
      tags = list("new", "gift");
      numbers = list(5L, 9007199254740993L);
      anything = list("a", 5L, 7, 0.5, true, null, new BigDecimal("12.50"));
      queue = new LinkedList<>(list("a", "b"));
      labels = new HashSet<>(list("b", "a", "c"));
      counts = new HashSet<>(list(3, 1));
      dates = new LinkedHashSet<>(list(new Date(5)));
      nested = list(list(1L), list());
      return this;
    }
  }

  public static class MapFields {
    public Map<String, String> texts;
    public LinkedHashMap<String, Object> anything;
    public HashMap<Integer, String> byNumber;
    public Map<Long, Long> numbers;
    public Map<String, Integer> sorted;
    public Map<String, Item> items;

    MapFields filled() {
      texts = map(new LinkedHashMap<>(), "b", "x", "a", "y");
      anything = map(new LinkedHashMap<>(), "b", 5L, "a", list(0.5));
      byNumber = map(new HashMap<>(), 10, "ten", 2, "two");
      numbers = map(new HashMap<>(), 7L, 5L);
      sorted = map(new TreeMap<>(), "b", 2, "a", 1);
      items = map(new HashMap<>(), "first", item("a"));
      return this;
    }
  }

  public static class Item {
    public String sku;
    public int quantity;
    public BigDecimal price;
    public Long weight;
  }

  public static class Address {
    public String city;
    public Address previous;
  }

  public static final class Place {
    public String city;
    public Long code;
  }

  public record Money(String currency, long cents) {}

  public static class OrderTimeout {
    public String orderId;
    public Long amount;
    public BigDecimal price;
    public Date placedAt;
    public Status status;
    public List<Item> items;
    public Address address;
    public String[] tags;
    public int count;

    OrderTimeout filled() {
      orderId = "o-1";
      amount = 5L;
      price = new BigDecimal("12.50");
      placedAt = new Date(1_700_000_000_123L);
      status = Status.PAID;
      items = list(item("a"), item("b"));
      address = address("Bern", address("Oslo", null));
      tags = new String[] {"new"};
      count = 2;
      return this;
    }
  }

  public static class Places {
    public Place place;
    public List<Place> stops;
    public Place[] route;

    Places filled() {
      place = place("Bern");
      stops = list(place("Kyiv"));
      route = new Place[] {place("Oslo")};
      return this;
    }
  }

  public static class Records {
    public Money total;
    public Money missing;

    Records filled() {
      total = new Money("CHF", 1250);
      return this;
    }
  }

  public static class ObjectFields {
    public Object number;
    public Object count;
    public Object ratio;
    public Object text;
    public Object list;
    public Object map;
    public Object date;
    public Object item;
    public Object price;
    public Object status;

    ObjectFields filled() {
      number = 5L;
      count = 7;
      ratio = 5.0;
      text = "a";
      list = list(5L, list("b"));
      map = map(new HashMap<>(), "k", 5L);
      date = new Date(5);
      item = item("a");
      price = new BigDecimal("12.50");
      status = Status.NEW;
      return this;
    }
  }

  public static class Base {
    public long version;
    public String owner;
  }

  public static class Extended extends Base {
    public String extra;
    public String name;

    Extended filled() {
      extra = "x";
      name = "y";
      version = 7;
      owner = "ann";
      return this;
    }
  }

  public static class Nulls {
    public String text;
    public Long number;
    public List<String> list;
    public Map<String, String> map;
    public String[] array;
    public Item item;
    public Object anything;
    public Status status;
    public int count;
    public String present;

    Nulls filled() {
      present = "p";
      return this;
    }
  }

  /** Fields of wider types than their values. */
  public static class Loose {
    public Number number;
    public CharSequence text;
    public Iterable<String> iterable;
    public Map<String, Object> map;

    Loose filled() {
      number = 5L;
      text = "a";
      iterable = list("a");
      map = map(new LinkedHashMap<>(), "@id", 1, "z", 1.0, "a", (short) 3);
      return this;
    }
  }

  private Fixtures() {}

  static Object named(String name) {
    Object fixture = all().get(name);
    if (fixture == null) {
      throw new IllegalArgumentException("There is no fixture " + name);
    }
    return fixture;
  }

  static Map<String, Object> all() {
    Map<String, Object> fixtures = new LinkedHashMap<>();
    fixtures.put("primitives", new Primitives().filled());
    fixtures.put("boxes", new Boxes().filled());
    fixtures.put("big numbers", new BigNumbers().filled());
    fixtures.put("texts", new Texts().filled());
    fixtures.put("dates", new Dates().filled());
    fixtures.put("rarities", new Rarities().filled());
    fixtures.put("enums", new Enums().filled());
    fixtures.put("arrays", new ArrayFields().filled());
    fixtures.put("object arrays", new ObjectArrays().filled());
    fixtures.put("collections", new CollectionFields().filled());
    fixtures.put("maps", new MapFields().filled());
    fixtures.put("order", new OrderTimeout().filled());
    fixtures.put("final class", new Places().filled());
    fixtures.put("record", new Records().filled());
    fixtures.put("objects", new ObjectFields().filled());
    fixtures.put("subclass", new Extended().filled());
    fixtures.put("nulls", new Nulls().filled());
    fixtures.put("loose types", new Loose().filled());
    fixtures.put("a Long", 5L);
    fixtures.put("a list", list("a", 5L, 7, 0.0, 12.50, item("a"), list(new Date(5))));
    fixtures.put("a map", map(new HashMap<>(), "b", 5L, "a", map(new LinkedHashMap<>(), "c", "d")));
    fixtures.put("a list of orders", new LinkedList<>(list(new OrderTimeout().filled())));
    return fixtures;
  }

  private static Calendar calendar(long millis) {
    Calendar calendar = new GregorianCalendar(TimeZone.getTimeZone("UTC"));
    calendar.setTimeInMillis(millis);
    return calendar;
  }

  private static Item item(String sku) {
    Item item = new Item();
    item.sku = sku;
    item.quantity = 2;
    item.price = new BigDecimal("12.50");
    item.weight = 5L;
    return item;
  }

  private static Address address(String city, Address previous) {
    Address address = new Address();
    address.city = city;
    address.previous = previous;
    return address;
  }

  private static Place place(String city) {
    Place place = new Place();
    place.city = city;
    place.code = 5L;
    return place;
  }

  @SafeVarargs
  private static <T> ArrayList<T> list(T... elements) {
    return new ArrayList<>(Arrays.asList(elements));
  }

  @SuppressWarnings("unchecked")
  private static <M extends Map<?, ?>> M map(M map, Object... keysAndValues) {
    for (int i = 0; i < keysAndValues.length; i += 2) {
      ((Map<Object, Object>) map).put(keysAndValues[i], keysAndValues[i + 1]);
    }
    return map;
  }
}
