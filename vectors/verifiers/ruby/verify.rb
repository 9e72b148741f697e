# Verifies a notification. Needs Ruby 2.7 or later and its own openssl.
require 'openssl'

# The notification is not genuine. The message is the code of the rejection.
class Rejected < StandardError; end

# The place of the secret that signed the bytes of `body`. Raises Rejected, and ArgumentError for unusable secrets.
def verify(secrets, header, body, now_ms, tolerance = 300)
  raise ArgumentError, 'a secret is empty, blank or padded' if secrets.any? { |each| each.empty? || each != each.strip }
  raise Rejected, 'ERR_SIGNATURE_MISSING' if header.nil? || header.match?(/\A[ \t]*\z/)

  fields = header.split(',', -1).map { |field| field.gsub(/\A[ \t]+|[ \t]+\z/, '').partition('=') }
  times = fields.select { |name, _, _| name == 't' }.map(&:last)
  codes = fields.select { |name, _, _| name == 'v1' }.map(&:last)
  shaped = header.length <= 4096 && fields.all? { |name, equals, _| equals == '=' && name.match?(/\A[^\s=,]+\z/) }
  raise Rejected, 'ERR_SIGNATURE_MALFORMED' unless shaped && times.length == 1 && times[0].match?(/\A(0|[1-9][0-9]{0,11})\z/)
  raise Rejected, 'ERR_SIGNATURE_SCHEME' if codes.empty?
  raise Rejected, 'ERR_SIGNATURE_MALFORMED' unless codes.length <= 8 && codes.all? { |code| code.match?(/\A[0-9a-f]{64}\z/) }

  age = now_ms / 1000 - times[0].to_i
  raise Rejected, age.positive? ? 'ERR_DELIVERY_STALE' : 'ERR_DELIVERY_FUTURE' if age.abs > tolerance

  place = secrets.index do |secret|
    expected = OpenSSL::HMAC.hexdigest('SHA256', secret.b, "#{times[0]}.".b + body.b)
    codes.any? { |code| OpenSSL.fixed_length_secure_compare(expected, code) }
  end
  place or raise Rejected, 'ERR_SIGNATURE_MISMATCH'
end
