package peer;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RedissonClient;

/** The queues of one client, each made once: every {@code getDelayedQueue} would start the same transfer task again. */
final class Queues {
  private record Key(String queue, String codec) {}

  private final RedissonClient redisson;
  private final Map<Key, RDelayedQueue<Object>> delayed = new ConcurrentHashMap<>();

  Queues(RedissonClient redisson) {
    this.redisson = redisson;
  }

  /** The queue of due messages. An empty name of the codec means the client's default. */
  RBlockingQueue<Object> target(String queue, String codec) {
    return codec.isEmpty() ? redisson.getBlockingQueue(queue) : redisson.getBlockingQueue(queue, Codecs.named(codec));
  }

  /** The delayed queue, whose transfer task starts when it is first asked for. */
  RDelayedQueue<Object> delayed(String queue, String codec) {
    return delayed.computeIfAbsent(new Key(queue, codec), key -> redisson.getDelayedQueue(target(queue, codec)));
  }

  /** Ends the transfer task. Offers are possible all the same, and start none. */
  void stopTransfer(String queue, String codec) {
    delayed(queue, codec).destroy();
  }

  /** Starts the transfer task anew after {@link #stopTransfer}. */
  void restartTransfer(String queue, String codec) {
    delayed.remove(new Key(queue, codec));
    delayed(queue, codec);
  }
}
