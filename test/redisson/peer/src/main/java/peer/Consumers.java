package peer;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.redisson.api.RBlockingQueue;

/** Threads that take due messages. */
final class Consumers {
  /** What was taken, and when. */
  record Taken(Description value, long at) {}

  private record Raw(Object value, long at) {}

  private final Output output;
  private final Map<String, List<Thread>> threads = new ConcurrentHashMap<>();
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

  void stop(String queue) throws InterruptedException {
    List<Thread> stopping = threads.remove(queue);
    if (stopping == null) {
      return;
    }
    stopping.forEach(Thread::interrupt);
    for (Thread thread : stopping) {
      thread.join();
    }
  }

  private void run(RBlockingQueue<Object> queue, int count, Consumer<Raw> each) {
    List<Thread> started = IntStream.range(0, count).mapToObj(i -> new Thread(() -> takeAll(queue, each))).toList();
    if (threads.putIfAbsent(queue.getName(), started) != null) {
      throw new IllegalStateException("Queue " + queue.getName() + " is being consumed already");
    }
    started.forEach(Thread::start);
  }

  private void takeAll(RBlockingQueue<Object> queue, Consumer<Raw> each) {
    while (!Thread.currentThread().isInterrupted()) {
      try {
        each.accept(new Raw(queue.take(), System.currentTimeMillis()));
      } catch (InterruptedException stopped) {
        return;
      } catch (RuntimeException problem) {
        output.failure(queue.getName(), problem);
      }
    }
  }
}
