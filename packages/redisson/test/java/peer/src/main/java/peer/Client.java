package peer;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.redisson.Redisson;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.Codec;
import org.redisson.config.Config;

/** Carries out requests with one Redisson client. */
final class Client implements AutoCloseable {
  /** A value, and its delay at the moment of the offer, in milliseconds. */
  private record Delayed(Object value, LongSupplier delay) {}

  /** What an offer of many took: milliseconds, and processor time in microseconds. */
  private record Cost(double took, double cpu) {}

  private final Consumers consumers;
  private RedissonClient redisson;
  private Queues queues;

  Client(Output output) {
    consumers = new Consumers(output);
  }

  Object execute(JsonNode request) throws Exception {
    return switch (request.get("do").asText()) {
      case "connect" -> connect(request);
      case "encode" -> Base64.getEncoder().encodeToString(Codecs.encode(codec(request), value(request)));
      case "decode" -> Description.of(Codecs.decode(codec(request), request.get("bytes").binaryValue()));
      case "writeAgain" -> writeAgain(request);
      case "fixtures" -> Fixtures.all().keySet();
      case "kryoFixtures" -> KryoFixtures.all().keySet();
      case "encodeFixture" -> encodeFixture(request);
      case "readAndWrite" -> readAndWrite(request);
      case "differenceFromFixture" -> differenceFromFixture(request);
      case "samples" -> Samples.all().keySet();
      case "offer" -> offer(request);
      case "offerMany" -> offerMany(request);
      case "offerAll" -> offerAll(request);
      case "size" -> delayed(request).size();
      case "contains" -> delayed(request).contains(value(request));
      case "remove" -> delayed(request).remove(value(request));
      case "readAll" -> delayed(request).readAll().stream().map(Description::of).toList();
      case "peek" -> Description.of(delayed(request).peek());
      case "poll" -> Description.of(delayed(request).poll());
      case "startTransfer" -> startTransfer(request);
      case "stopTransfer" -> stopTransfer(request);
      case "take" -> Description.of(target(request).poll(request.get("within").asLong(), TimeUnit.MILLISECONDS));
      case "consume" -> consume(request);
      case "stopConsuming" -> stopConsuming(request);
      case "collect" -> collect(request);
      case "collected" -> consumers.collected(queue(request)).toList();
      default -> throw new IllegalArgumentException("Nothing is known of " + request);
    };
  }

  @Override
  public void close() {
    if (redisson != null) {
      redisson.shutdown(0, 2, TimeUnit.SECONDS);
    }
  }

  private String connect(JsonNode request) {
    Config config = new Config();
    // A machine that is busy with other tests may starve Redisson's threads for longer than its 3 s.
    config.useSingleServer().setAddress(request.get("url").asText()).setTimeout(20_000);
    redisson = Redisson.create(config);
    queues = new Queues(redisson);
    return Redisson.class.getPackage().getImplementationVersion();
  }

  private String writeAgain(JsonNode request) throws IOException {
    Codec codec = codec(request);
    Object value = Codecs.decode(codec, request.get("bytes").binaryValue());
    return Base64.getEncoder().encodeToString(Codecs.encode(codec, value));
  }

  private String encodeFixture(JsonNode request) throws IOException {
    Object fixture = fixture(request);
    return Base64.getEncoder().encodeToString(Codecs.encode(Codecs.forValue(codecName(request), fixture), fixture));
  }

  /** Null if the bytes are read as the fixture. */
  private String differenceFromFixture(JsonNode request) throws IOException {
    Object fixture = fixture(request);
    Codec codec = Codecs.forValue(codecName(request), fixture);
    return Likeness.difference(Codecs.decode(codec, request.get("bytes").binaryValue()), fixture);
  }

  /** The bytes that Java writes for what it reads. */
  private String readAndWrite(JsonNode request) throws IOException {
    Codec codec = Codecs.forValue(codecName(request), "");
    Object value = Codecs.decode(codec, request.get("bytes").binaryValue());
    return Base64.getEncoder().encodeToString(Codecs.encode(codec, value));
  }

  private static Object fixture(JsonNode request) {
    String name = request.get("fixture").asText();
    return KryoFixtures.all().containsKey(name) ? KryoFixtures.all().get(name) : Fixtures.named(name);
  }

  private Object offer(JsonNode request) throws IOException {
    delayed(request).offer(value(request), request.get("delay").asLong(), TimeUnit.MILLISECONDS);
    return null;
  }

  /** Offers values with the same delay. */
  private Object offerMany(JsonNode request) throws IOException, InterruptedException {
    long delay = request.get("delay").asLong();
    List<Delayed> offers = new ArrayList<>();
    for (JsonNode value : request.get("values")) {
      offers.add(new Delayed(plain(value), () -> delay));
    }
    return offerAll(delayed(request), offers, count(request));
  }

  /** Offers values that fall due at given times. */
  private Object offerAll(JsonNode request) throws IOException, InterruptedException {
    List<Delayed> offers = new ArrayList<>();
    for (JsonNode offer : request.get("offers")) {
      long due = offer.get("due").asLong();
      offers.add(new Delayed(plain(offer.get("value")), () -> Math.max(0, due - System.currentTimeMillis())));
    }
    return offerAll(delayed(request), offers, count(request));
  }

  /** Offers with so many calls under way at a time. */
  private static Cost offerAll(RDelayedQueue<Object> queue, List<Delayed> offers, int callers)
      throws InterruptedException {
    Semaphore free = new Semaphore(callers);
    AtomicReference<Throwable> problem = new AtomicReference<>();
    long start = System.nanoTime();
    double cpuBefore = cpu();
    for (Delayed offer : offers) {
      free.acquire();
      long delay = offer.delay.getAsLong();
      queue.offerAsync(offer.value, delay, TimeUnit.MILLISECONDS).whenComplete((nothing, error) -> {
        problem.compareAndSet(null, error);
        free.release();
      });
    }
    free.acquire(callers);
    Cost cost = new Cost((System.nanoTime() - start) / 1e6, cpu() - cpuBefore);
    if (problem.get() != null) {
      throw new CompletionException(problem.get());
    }
    return cost;
  }

  /** Processor time of this process so far, in microseconds. */
  private static double cpu() {
    return ProcessHandle.current().info().totalCpuDuration().orElseThrow().toNanos() / 1e3;
  }

  private Object startTransfer(JsonNode request) {
    queues.startTransfer(queue(request), codecName(request));
    return null;
  }

  private Object stopTransfer(JsonNode request) {
    queues.stopTransfer(queue(request), codecName(request));
    return null;
  }

  private Object consume(JsonNode request) {
    consumers.start(target(request), count(request));
    return null;
  }

  private Object stopConsuming(JsonNode request) throws InterruptedException {
    consumers.stop(queue(request));
    return null;
  }

  private Object collect(JsonNode request) {
    consumers.collect(target(request), count(request));
    return null;
  }

  private RDelayedQueue<Object> delayed(JsonNode request) {
    return queues.delayed(queue(request), codecName(request));
  }

  private RBlockingQueue<Object> target(JsonNode request) {
    return queues.target(queue(request), codecName(request));
  }

  private static String queue(JsonNode request) {
    return request.get("queue").asText();
  }

  private static Codec codec(JsonNode request) {
    return Codecs.named(codecName(request));
  }

  private static String codecName(JsonNode request) {
    return request.path("codec").asText("");
  }

  private static int count(JsonNode request) {
    return request.path("count").asInt(1);
  }

  private static Object value(JsonNode request) throws IOException {
    return request.has("sample") ? Samples.named(request.get("sample").asText()) : plain(request.get("value"));
  }

  private static Object plain(JsonNode value) throws IOException {
    return Output.JSON.treeToValue(value, Object.class);
  }
}
