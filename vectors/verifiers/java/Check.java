// Checks Verifier over lines of a case each; vectors/verifiers/check.mjs makes them from signature.json.
import java.util.*;

final class Check {
  /** Fields of a line, parted by tabs and each in base64: secrets parted by commas, header or "-", body, clock, tolerance, verdict. */
  public static void main(String[] args) throws Exception {
    int count = 0, wrong = 0;
    for (String line : new String(System.in.readAllBytes()).split("\n")) {
      String[] fields = line.split("\t", -1);
      var secrets = Arrays.stream(fields[0].split(",")).map(Check::text).toList();
      String header = fields[1].equals("-") ? null : text(fields[1]);
      byte[] body = Base64.getDecoder().decode(fields[2]);
      String verdict = Verifier.verify(secrets, header, body, Long.parseLong(fields[3]), Long.parseLong(fields[4]));
      count++;
      if (verdict.equals(fields[5])) continue;
      wrong++;
      System.out.println(verdict + ", not " + fields[5] + ": " + header);
    }
    for (String unusable : List.of("", " ", "whsec_a\n")) {
      try {
        Verifier.verify(List.of("whsec_a", unusable), null, new byte[0], 0, 300);
        wrong++;
        System.out.println("unusable secrets are accepted");
      } catch (IllegalArgumentException expected) {
        continue;
      }
    }
    System.out.println(count + " cases, " + wrong + " wrong");
    System.exit(wrong > 0 || count == 0 ? 1 : 0);
  }

  private static String text(String encoded) {
    return new String(Base64.getDecoder().decode(encoded), java.nio.charset.StandardCharsets.UTF_8);
  }
}
