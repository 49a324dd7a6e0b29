package peer;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A Redisson client that is driven over standard input and output, one JSON object a line.
 *
 * <p>A request is {@code {"id": 1, "do": "offer", ...}}. Each is answered by {@code {"id": 1, "result": ...}} or
 * {@code {"id": 1, "error": {"class": ..., "message": ...}}} when it is done, in any order. The process ends when its
 * input does, so it never outlives whoever started it.
 */
public final class Peer {
  private Peer() {}

  public static void main(String[] arguments) throws IOException {
    Output output = new Output();
    ExecutorService requests = Executors.newCachedThreadPool();
    try (Client client = new Client(output);
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      for (String line = input.readLine(); line != null; line = input.readLine()) {
        JsonNode request = Output.JSON.readTree(line);
        requests.execute(() -> answer(client, request, output));
      }
    } finally {
      requests.shutdownNow();
    }
    // Redisson leaves threads behind when it is shut down while it connects.
    System.exit(0);
  }

  private static void answer(Client client, JsonNode request, Output output) {
    long id = request.get("id").asLong();
    try {
      output.result(id, client.execute(request));
    } catch (Exception | LinkageError problem) {
      output.error(id, problem);
    }
  }
}
