// Verifies a notification. Needs Java 17 or later and nothing else.
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.*;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

final class Verifier {
  /**
   * "ok" and the place of the secret that signed the bytes of body, such as "ok 0", or the code of the rejection.
   * @throws IllegalArgumentException when a secret is empty, blank or padded.
   */
  static String verify(List<String> secrets, String header, byte[] body, long nowMs, long tolerance) throws Exception {
    if (secrets.stream().anyMatch(secret -> secret.isBlank() || !secret.equals(secret.strip())))
      throw new IllegalArgumentException("a secret is empty, blank or padded");
    if (header == null || header.matches("[ \\t]*")) return "ERR_SIGNATURE_MISSING";
    var times = new ArrayList<String>();
    var codes = new ArrayList<String>();
    boolean shaped = header.length() <= 4096;
    for (String field : header.split(",", -1)) {
      String[] parts = field.replaceAll("^[ \\t]+|[ \\t]+$", "").split("=", 2);
      shaped &= parts.length == 2 && parts[0].matches("[^\\s=,]+");
      if (parts.length == 2 && parts[0].equals("t")) times.add(parts[1]);
      if (parts.length == 2 && parts[0].equals("v1")) codes.add(parts[1]);
    }
    if (!shaped || times.size() != 1 || !times.get(0).matches("0|[1-9][0-9]{0,11}")) return "ERR_SIGNATURE_MALFORMED";
    if (codes.isEmpty()) return "ERR_SIGNATURE_SCHEME";
    boolean isHex = codes.stream().allMatch(code -> code.matches("[0-9a-f]{64}"));
    if (codes.size() > 8 || !isHex) return "ERR_SIGNATURE_MALFORMED";
    long age = Math.floorDiv(nowMs, 1000) - Long.parseLong(times.get(0));
    if (Math.abs(age) > tolerance) return age > 0 ? "ERR_DELIVERY_STALE" : "ERR_DELIVERY_FUTURE";
    for (int place = 0; place < secrets.size(); place++) {
      var mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secrets.get(place).getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
      mac.update((times.get(0) + ".").getBytes(StandardCharsets.UTF_8));
      byte[] expected = HexFormat.of().formatHex(mac.doFinal(body)).getBytes();
      for (String code : codes) if (MessageDigest.isEqual(expected, code.getBytes())) return "ok " + place;
    }
    return "ERR_SIGNATURE_MISMATCH";
  }
}
