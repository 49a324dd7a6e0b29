package peer;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.redisson.RedissonObject;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RTopic;
import org.redisson.api.RedissonClient;

/** The queues of one client, each made once: every {@code getDelayedQueue} counts as a user of the transfer task. */
final class Queues {
  private record Key(String queue, String codec) {}

  private static final long SUBSCRIBED_WITHIN_NANOS = TimeUnit.SECONDS.toNanos(20);

  private final RedissonClient redisson;
  private final Map<Key, RDelayedQueue<Object>> delayed = new ConcurrentHashMap<>();
  private final Set<Key> stopped = ConcurrentHashMap.newKeySet();

  Queues(RedissonClient redisson) {
    this.redisson = redisson;
  }

  /** The queue of due messages. An empty name of the codec means the client's default. */
  RBlockingQueue<Object> target(String queue, String codec) {
    return codec.isEmpty() ? redisson.getBlockingQueue(queue) : redisson.getBlockingQueue(queue, Codecs.named(codec));
  }

  /** The delayed queue, whose transfer task starts when it is first asked for. */
  RDelayedQueue<Object> delayed(String queue, String codec) {
    return delayed.computeIfAbsent(new Key(queue, codec), this::open);
  }

  /** Ends the transfer task. Offers are possible all the same, and start none. */
  void stopTransfer(String queue, String codec) {
    delayed(queue, codec).destroy();
    stopped.add(new Key(queue, codec));
  }

  /** Starts the transfer task, anew after {@link #stopTransfer}. */
  void startTransfer(String queue, String codec) {
    Key key = new Key(queue, codec);
    if (stopped.remove(key)) {
      delayed.remove(key);
    }
    delayed(queue, codec);
  }

  /** Waits for the subscription: a queue that is destroyed before it can hang, and nothing is transferred before it. */
  private RDelayedQueue<Object> open(Key key) {
    RDelayedQueue<Object> queue = redisson.getDelayedQueue(target(key.queue, key.codec));
    RTopic channel = redisson.getTopic(RedissonObject.prefixName("redisson_delay_queue_channel", key.queue));
    long deadline = System.nanoTime() + SUBSCRIBED_WITHIN_NANOS;
    while (channel.countListeners() == 0) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException("Redisson does not subscribe to " + channel.getChannelNames());
      }
      Thread.onSpinWait();
    }
    return queue;
  }
}
