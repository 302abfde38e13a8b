package lib3pt;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import org.junit.jupiter.api.Test;

/** The five programs print what they print in C, with native access denied to all but lib3pt. */
class ProgramsTest {
  private static void run(String program, String output) throws Exception {
    Setup.Said said = Setup.java(Setup.denying(), Setup.here().resolve("examples/" + program + ".java").toString());
    assertEquals("", said.err());
    assertEquals(Files.readString(Setup.programs().resolve(output + ".txt")), said.out());
    assertEquals(0, said.status());
  }

  @Test
  void train_tiny() throws Exception {
    run("TrainTiny", "train_tiny");
  }

  @Test
  void continue_text() throws Exception {
    run("ContinueText", "continue_text");
  }

  @Test
  void stream_text() throws Exception {
    run("StreamText", "stream_text");
  }

  @Test
  void inspect_geometry() throws Exception {
    run("InspectGeometry", "inspect_geometry");
  }

  @Test
  void handle_error() throws Exception {
    run("HandleError", "handle_error");
  }
}
