package peer;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.redisson.api.RBlockingQueue;

/** Threads that take due messages. */
final class Consumers {
  /** What was taken, and when. */
  record Taken(Description value, long at) {}

  private record Raw(Object value, long at) {}

  private record Running(List<Thread> threads, AtomicBoolean stopped) {}

  private static final long STOPS_WITHIN_SECONDS = 1;

  private final Output output;
  private final Map<String, Running> running = new ConcurrentHashMap<>();
  private final Map<String, Queue<Raw>> collections = new ConcurrentHashMap<>();

  Consumers(Output output) {
    this.output = output;
  }

  /** Reports each message as it comes, until {@link #stop}. */
  void start(RBlockingQueue<Object> queue, int count) {
    run(queue, count, taken -> output.message(queue.getName(), taken.value, taken.at));
  }

  /** Keeps the messages until {@link #collected} asks for them, so that reporting does not slow the threads down. */
  void collect(RBlockingQueue<Object> queue, int count) {
    run(queue, count, collectionOf(queue.getName())::add);
  }

  /** What was collected since the last call. */
  Stream<Taken> collected(String queue) {
    Queue<Raw> all = collectionOf(queue);
    return Stream.generate(all::poll)
        .takeWhile(Objects::nonNull)
        .map(taken -> new Taken(Description.of(taken.value), taken.at));
  }

  private Queue<Raw> collectionOf(String queue) {
    return collections.computeIfAbsent(queue, name -> new ConcurrentLinkedQueue<>());
  }

  /** Interrupts nothing: a call that is interrupted can leave Redisson 3 a connection that still blocks, which answers no one. */
  void stop(String queue) throws InterruptedException {
    Running stopping = running.remove(queue);
    if (stopping == null) {
      return;
    }
    stopping.stopped.set(true);
    for (Thread thread : stopping.threads) {
      thread.join();
    }
  }

  private void run(RBlockingQueue<Object> queue, int count, Consumer<Raw> each) {
    AtomicBoolean stopped = new AtomicBoolean();
    Runnable work = () -> takeAll(queue, each, stopped);
    List<Thread> threads = IntStream.range(0, count).mapToObj(i -> new Thread(work)).toList();
    if (running.putIfAbsent(queue.getName(), new Running(threads, stopped)) != null) {
      throw new IllegalStateException("Queue " + queue.getName() + " is being consumed already");
    }
    threads.forEach(Thread::start);
  }

  private void takeAll(RBlockingQueue<Object> queue, Consumer<Raw> each, AtomicBoolean stopped) {
    while (!stopped.get()) {
      try {
        Object value = queue.poll(STOPS_WITHIN_SECONDS, TimeUnit.SECONDS);
        if (value != null) {
          each.accept(new Raw(value, System.currentTimeMillis()));
        }
      } catch (InterruptedException ended) {
        return;
      } catch (RuntimeException problem) {
        output.failure(queue.getName(), problem);
      }
    }
  }
}
