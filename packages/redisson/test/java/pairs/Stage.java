package com.shop;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Field;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RBlockingDeque;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Runs the Java snippets of a page as Spring would: fills their fields, and starts them. Driven by lines of text. */
public final class Stage {
  public static void main(String[] args) {
    try {
      run(args[0]);
    } catch (Throwable e) {
      e.printStackTrace();
      // Otherwise the threads of Redisson would keep the process.
      System.exit(1);
    }
  }

  private static void run(String address) throws Exception {
    Config config = new Config();
    config.useSingleServer().setAddress(address).setConnectionMinimumIdleSize(2).setConnectionPoolSize(4);
    RedissonClient redisson = Redisson.create(config);
    Map<Class<?>, Object> beans = Map.of(RedissonClient.class, redisson, Orders.class, new Orders());
    System.out.println("ready");
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] words = line.split(" ");
      switch (words[0]) {
        case "add" -> add(wire(new DelayQueueKit(), beans), words[1], Long.parseLong(words[2]));
        case "add-to-old" -> addToOld(redisson, words[1], Long.parseLong(words[2]));
        case "switch" -> wire(new CodecSwitch(), beans).start();
        case "consume" -> wire(new OrderTimeouts(), beans).start();
        default -> throw new IllegalArgumentException(line);
      }
    }
    redisson.shutdown();
    System.out.println("end");
  }

  private static void add(DelayQueueKit kit, String orderId, long delay) {
    kit.add("orders", timeout(orderId), delay, TimeUnit.MILLISECONDS);
    System.out.println("added " + orderId);
  }

  private static void addToOld(RedissonClient redisson, String orderId, long delay) {
    RBlockingDeque<OrderTimeout> old = redisson.getBlockingDeque("order-timeouts");
    redisson.getDelayedQueue(old).offer(timeout(orderId), delay, TimeUnit.MILLISECONDS);
  }

  private static OrderTimeout timeout(String orderId) {
    OrderTimeout timeout = new OrderTimeout();
    timeout.setOrderId(orderId);
    return timeout;
  }

  private static <T> T wire(T bean, Map<Class<?>, Object> beans) throws IllegalAccessException {
    for (Field field : bean.getClass().getDeclaredFields()) {
      if (field.isAnnotationPresent(Resource.class)) {
        field.setAccessible(true);
        field.set(bean, beans.get(field.getType()));
      }
    }
    return bean;
  }
}

/** Spring's, and that of the Java platform. */
@interface Component {}

@Retention(RetentionPolicy.RUNTIME)
@interface Resource {}

@interface PostConstruct {}

/** The application's. */
class Orders {
  void cancelIfUnpaid(String orderId) {
    System.out.println("cancelled " + orderId);
  }
}
