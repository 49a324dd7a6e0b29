package peer;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.sql.Timestamp;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Currency;
import java.util.Date;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.Vector;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/** Payloads that only Kryo writes in a way of its own, by name. */
public final class KryoFixtures {
  public static class Times {
    public Instant instant = Instant.ofEpochSecond(1_700_000_000L, 123_456_789);
    public Instant before = Instant.ofEpochSecond(-5, 500_000_000);
    public Duration duration = Duration.ofSeconds(-3725, 500_000_000);
    public Duration none = Duration.ZERO;
    public Period period = Period.of(1, -2, 3);
    public LocalDate date = LocalDate.of(2024, 2, 29);
    public LocalTime hour = LocalTime.of(7, 0);
    public LocalTime minute = LocalTime.of(7, 30);
    public LocalTime second = LocalTime.of(7, 30, 5);
    public LocalTime nano = LocalTime.of(7, 0, 0, 1_000_000);
    public LocalDateTime dateTime = LocalDateTime.of(2024, 2, 29, 7, 30);
    public OffsetTime offsetTime = OffsetTime.of(7, 30, 0, 0, ZoneOffset.ofHours(2));
    public OffsetDateTime offsetDateTime = OffsetDateTime.of(2024, 2, 29, 7, 30, 1, 0, ZoneOffset.ofHoursMinutes(5, 45));
    public OffsetDateTime oddOffset = OffsetDateTime.of(2024, 2, 29, 7, 30, 1, 0, ZoneOffset.ofTotalSeconds(-3601));
    public ZonedDateTime zoned = ZonedDateTime.of(2024, 2, 29, 7, 30, 0, 0, ZoneId.of("Europe/Zurich"));
    public ZonedDateTime utc = ZonedDateTime.of(2024, 2, 29, 7, 30, 0, 0, ZoneOffset.UTC);
    public Year year = Year.of(2024);
    public YearMonth yearMonth = YearMonth.of(2024, 2);
    public MonthDay monthDay = MonthDay.of(2, 29);
    public ZoneId zone = ZoneId.of("Europe/Zurich");
    public ZoneId zoneOffset = ZoneOffset.UTC;
    public ZoneOffset offset = ZoneOffset.ofHours(-3);
    public DayOfWeek day = DayOfWeek.FRIDAY;
    public TimeUnit unit = TimeUnit.SECONDS;
    public Instant missing;
    public Date stamp = new Timestamp(1_700_000_000_123L);
    public java.sql.Date sqlDate = new java.sql.Date(1_700_000_000_000L);
    public Date early = new Date(-1);
  }

  public static class Generics {
    public List<List<String>> texts = list(list("a", "b"), list(), list("c"));
    public Map<String, List<Long>> numbers = map("a", list(1L, 2L), "b", list());
    public Map<String, Map<String, Integer>> deep = map("a", map("b", 1), "c", map("d", 2));
    public List<Map<String, Long>> maps = list(map("a", 1L), map());
    public List<Map<String, Fixtures.Item>> items = list(map("a", item("i")));
    public List<? extends Number> bounded = list(1, 2);
    public List<? super Integer> lower = list(1, 2);
    public List<?> unknown = list("a", 1);
    public Collection<Object> objects = list("a", 1, list("b"), map("c", list(1L)));
    public List<String>[] arrayOfLists = arrayOf(list("a"), list("b"));
    public List<String[]> arrays = list(new String[] {"a"}, new String[] {});
    public List<byte[]> bytes = list(new byte[] {1}, new byte[] {2, 3});
    public List<Fixtures.Place> places = list(place("Bern"), null, place("Kyiv"));
    public List<Fixtures.Status> statuses = list(Fixtures.Status.NEW, null);
    public List<Fixtures.Money> money = list(new Fixtures.Money("CHF", 5));
    public Map<Fixtures.Status, Long> byStatus = map(Fixtures.Status.PAID, 5L);
    public Map<UUID, String> byId = map(UUID.fromString("01234567-89ab-cdef-0123-456789abcdef"), "a");
    public Map<Integer, Boolean> byNumber = map(10, true, 2, false, 1, null);
    public Map<BigInteger, Integer> byBig = map(BigInteger.TEN, 1);
    public Map<Object, Object> byAnything = map("a", 1, 5L, "b", 7, null);
  }

  public static class Page<T> {
    public List<T> rows;
    public T first;
    public int number = 1;
  }

  public static class OrderPage extends Page<Fixtures.Item> {
    public String title = "orders";
  }

  public static class Pages {
    public Page<Fixtures.Item> items = page(item("a"));
    public Page<Object> objects = page("a");
    public OrderPage orders = orders();
  }

  public record Basket(
      String owner, int count, Long total, List<String> tags, Map<String, Long> counts, Object anything,
      Fixtures.Item item, Fixtures.Place place, char grade, boolean paid, short port, byte level, double weight,
      float ratio, long number, String[] labels, BigDecimal price, Fixtures.Status status) {}

  public static class Baskets {
    public Basket basket = basket();
    public Object same = basket();
    public List<Basket> more = list(basket(), null);
  }

  public static class Containers {
    public List<String> immutable = List.of("a", "b", "c");
    public List<String> pair = List.of("a", "b");
    public List<Object> mixed = List.of("a", 1, 2L);
    public List<Integer> asList = Arrays.asList(1, 2, null);
    public Object anyAsList = Arrays.asList("a", "b");
    public Set<String> immutableSet = Set.of("a");
    public Map<String, Long> immutableMap = Map.of("a", 5L);
    public Object anyImmutableMap = Map.of("a", 5L);
    public Object anyImmutable = List.of("a", "b", "c");
    public Object emptyImmutable = List.of();
    public List<String> empty = Collections.emptyList();
    public Map<String, String> emptyMap = Collections.emptyMap();
    public Set<String> emptySet = Collections.emptySet();
    public List<Long> single = Collections.singletonList(5L);
    public Set<Long> singleSet = Collections.singleton(5L);
    public Map<String, Long> singleMap = Collections.singletonMap("a", 5L);
    public TreeSet<String> treeSet = new TreeSet<>(list("b", "a"));
    public TreeMap<String, Integer> treeMap = new TreeMap<>(map("b", 2, "a", 1));
    public Map<String, Integer> concurrent = new ConcurrentHashMap<>(map("b", 2, "a", 1));
    public Collection<Object> queue = new PriorityQueue<>(list(3, 1, 2));
    public ArrayDeque<String> deque = new ArrayDeque<>(list("a"));
    public Vector<String> vector = new Vector<>(list("a"));
    public Iterable<String> copyOnWrite = new CopyOnWriteArrayList<>(list("a"));
    public LinkedHashSet<Object> linked = new LinkedHashSet<>(list("a", 1));
    public List<Object> nulls = list(null, null);
    public List<Object> sameWithNull = list(1L, null, 2L);
    public List<Object> differentWithNull = list(1L, null, "a");
    public List<Object> doubles = list(1.0, 0.5, 7, -0.0, Double.NaN);
    public List<Fixtures.Item> items = list(item("a"), null, item("b"));
    public Object[] objects = {"a", 1.0, 2, null, new int[] {1}, new String[] {"b"}, item("c")};
    public Map<String, Object> integerKeys = map("10", 1, "2", 2.0, "a", null, "", "e");
    public Map<String, Object> odd = map("__proto__", "p", "@class", "com.shop.Order", "constructor", 1);
  }

  public static class Arrays2 {
    public short[] shorts = {1, -2, Short.MAX_VALUE};
    public char[] chars = {'a', 'ä'};
    public float[] floats = {1.1f, -0.0f, Float.NaN};
    public int[][] matrix = {{1, 2}, {}, null};
    public Fixtures.Item[][] itemGrid = {{item("a")}, {}};
    public Object[][] objectGrid = {{"a", 1}, null};
    public Boolean[] booleans = {true, null};
    public BigDecimal[] prices = {new BigDecimal("12.50"), null};
    public Date[] dates = {new Date(5), new Timestamp(6)};
    public UUID[] ids = {UUID.fromString("01234567-89ab-cdef-0123-456789abcdef")};
    public Fixtures.Money[] money = {new Fixtures.Money("CHF", 5), null};
    public Object anyInts = new int[] {1, 2};
    public Object anyTexts = new String[] {"a", null};
    public Object anyBytes = new byte[] {1, 2};
    public Object anyItems = new Fixtures.Item[] {item("a"), null};
    public byte[] noBytes;
    public byte[] emptyBytes = {};
  }

  public static class Odds {
    public Locale locale = Locale.GERMANY;
    public Currency currency = Currency.getInstance("CHF");
    public URI uri = URI.create("https://example.com/a?b=c");
    public StringBuilder builder = new StringBuilder("built");
    public StringBuffer buffer = new StringBuffer("é");
    public Object anyCharacter = 'c';
    public Object anyFloat = 1.1f;
    public Object anyShort = (short) 7;
    public Object anyByte = (byte) -1;
    public Object anyBigInteger = BigInteger.TEN;
    public Object anyGreatBigInteger = BigInteger.ONE.shiftLeft(80);
    public Object anyBoolean = true;
    public Object anyNull;
    public Object anyPlace = place("Bern");
    public Object anyMoney = new Fixtures.Money("CHF", 5);
    public Object anyStatus = Fixtures.Status.PAID;
    public Object anyInstant = Instant.ofEpochSecond(5);
    public Object anyGreatInt = 3e9;
    public long least = Long.MIN_VALUE;
    public long greatest = Long.MAX_VALUE;
    public int leastInt = Integer.MIN_VALUE;
    public int greatestInt = Integer.MAX_VALUE;
    public Long boxedLeast = Long.MIN_VALUE;
    public double notANumber = Double.NaN;
    public double negativeZero = -0.0;
    public double infinite = Double.NEGATIVE_INFINITY;
    public float small = Float.MIN_VALUE;
    public char surrogate = '\ud83d';
    public BigDecimal thousand = new BigDecimal("1E+3");
    public BigDecimal tiny = new BigDecimal("-1E-10");
    public BigDecimal zero = BigDecimal.ZERO;
    public BigDecimal zeroes = new BigDecimal("0.00");
    public BigDecimal great = new BigDecimal("123456789012345678901234567890.12");
    public BigInteger negative = BigInteger.valueOf(-129);
    public Number number = 5.0;
    public Comparable<?> comparable = "a";
    public java.io.Serializable serializable = 5L;
    public String one = "x";
    public String thirtyTwo = "x".repeat(32);
    public String thirtyThree = "x".repeat(33);
    public String unicode = "aé日😀";
    public String longer = "é".repeat(70);
  }

  /** What Kryo writes as a collection, without its fields. */
  public static class Tags extends ArrayList<String> {
    public String owner;
  }

  private KryoFixtures() {}

  static Map<String, Object> all() {
    Map<String, Object> fixtures = new LinkedHashMap<>();
    fixtures.put("kryo: times", new Times());
    fixtures.put("kryo: generics", new Generics());
    fixtures.put("kryo: pages", new Pages());
    fixtures.put("kryo: baskets", new Baskets());
    fixtures.put("kryo: containers", new Containers());
    fixtures.put("kryo: arrays", new Arrays2());
    fixtures.put("kryo: odds", new Odds());
    addValues(fixtures);
    return fixtures;
  }

  private static void addValues(Map<String, Object> fixtures) {
    List<Object> values = list(
        7, -1, 3_000_000_000L, 0.5, 5.0, 1.5f, true, 'c', (short) 7, (byte) 7, BigInteger.TEN, new BigDecimal("12.50"),
        new Date(1_700_000_000_123L), new Timestamp(5), UUID.fromString("01234567-89ab-cdef-0123-456789abcdef"),
        Instant.ofEpochSecond(5), Fixtures.Status.PAID, TimeUnit.SECONDS, new Fixtures.Money("CHF", 5), place("Bern"),
        new byte[] {1}, new int[] {1}, new String[] {"a"}, new Fixtures.Item[] {item("a")}, list(), map(), List.of(1, 2, 3),
        Arrays.asList("a", "b"), new LinkedList<>(list(1L)), new TreeMap<>(map("b", 1)), new HashMap<>(map(5L, 1)),
        list(map("a", list(1, "b"))), new LinkedHashSet<>(list(1.5f)));
    for (Object value : values) {
      fixtures.put("kryo: " + fixtures.size() + " " + value.getClass().getSimpleName(), value);
    }
  }

  private static Fixtures.Item item(String sku) {
    Fixtures.Item item = new Fixtures.Item();
    item.sku = sku;
    item.price = new BigDecimal("12.50");
    item.weight = 5L;
    return item;
  }

  private static Fixtures.Place place(String city) {
    Fixtures.Place place = new Fixtures.Place();
    place.city = city;
    place.code = 5L;
    return place;
  }

  private static Basket basket() {
    return new Basket("ann", 3, 5L, list("a"), map("b", 1L), 5L, item("i"), place("p"), 'g', true, (short) 443, (byte) -5,
        0.5, 1.1f, 9007199254740993L, new String[] {"l"}, new BigDecimal("12.50"), Fixtures.Status.PAID);
  }

  private static <T> Page<T> page(T row) {
    Page<T> page = new Page<>();
    page.rows = list(row);
    page.first = row;
    return page;
  }

  private static OrderPage orders() {
    OrderPage page = new OrderPage();
    page.rows = list(item("a"));
    page.first = item("b");
    return page;
  }

  @SafeVarargs
  private static <T> List<T> list(T... elements) {
    return new ArrayList<>(Arrays.asList(elements));
  }

  @SafeVarargs
  private static <T> T[] arrayOf(T... elements) {
    return elements;
  }

  @SuppressWarnings("unchecked")
  private static <K, V> Map<K, V> map(Object... keysAndValues) {
    Map<Object, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < keysAndValues.length; i += 2) {
      map.put(keysAndValues[i], keysAndValues[i + 1]);
    }
    return (Map<K, V>) map;
  }
}
