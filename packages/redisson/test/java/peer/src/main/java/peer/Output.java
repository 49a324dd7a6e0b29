package peer;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** Writes answers and events to standard output, one line each, from any thread. */
final class Output {
  static final ObjectMapper JSON = new ObjectMapper();

  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  void result(long id, Object result) {
    ObjectNode line = JSON.createObjectNode().put("id", id);
    line.set("result", JSON.valueToTree(result));
    write(line);
  }

  void error(long id, Throwable problem) {
    Throwable cause = problem;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    ObjectNode line = JSON.createObjectNode().put("id", id);
    line.putObject("error").put("class", cause.getClass().getName()).put("message", String.valueOf(cause.getMessage()));
    write(line);
  }

  void message(String queue, Object value, long at) {
    ObjectNode line = JSON.createObjectNode().put("message", queue).put("at", at);
    line.set("value", JSON.valueToTree(Description.of(value)));
    write(line);
  }

  void failure(String queue, Throwable problem) {
    write(JSON.createObjectNode().put("failure", queue).put("problem", problem.toString()));
  }

  private synchronized void write(ObjectNode line) {
    try {
      out.println(JSON.writeValueAsString(line));
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
