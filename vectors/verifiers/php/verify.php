<?php
// Verifies a notification. Needs PHP 8.0 or later, 64 bits.

/** The notification is not genuine. The message is the code of the rejection. */
final class Rejected extends Exception {}

/** The place of the secret that signed the bytes of $body. @throws Rejected @throws ValueError for unusable secrets */
function verify(array $secrets, ?string $header, string $body, int $nowMs, int $tolerance = 300): int
{
    foreach ($secrets as $secret) {
        if ($secret === '' || $secret !== trim($secret)) throw new ValueError('a secret is empty, blank or padded');
    }
    if ($header === null || trim($header, " \t") === '') throw new Rejected('ERR_SIGNATURE_MISSING');
    $times = $codes = [];
    $shaped = strlen($header) <= 4096;
    foreach (explode(',', $header) as $field) {
        [$name, $value] = explode('=', trim($field, " \t"), 2) + [1 => null];
        if ($value === null || !preg_match('/^[^\s=,]+$/D', $name)) $shaped = false;
        if ($name === 't') $times[] = (string) $value;
        if ($name === 'v1') $codes[] = (string) $value;
    }
    if (!$shaped || count($times) !== 1 || !preg_match('/^(0|[1-9][0-9]{0,11})$/D', $times[0])) {
        throw new Rejected('ERR_SIGNATURE_MALFORMED');
    }
    if ($codes === []) throw new Rejected('ERR_SIGNATURE_SCHEME');
    $hex = array_filter($codes, fn ($code) => preg_match('/^[0-9a-f]{64}$/D', $code) === 1);
    if (count($codes) > 8 || count($hex) !== count($codes)) throw new Rejected('ERR_SIGNATURE_MALFORMED');
    $age = intdiv($nowMs, 1000) - (int) $times[0];
    if (abs($age) > $tolerance) throw new Rejected($age > 0 ? 'ERR_DELIVERY_STALE' : 'ERR_DELIVERY_FUTURE');
    foreach ($secrets as $place => $secret) {
        $expected = hash_hmac('sha256', $times[0] . '.' . $body, $secret);
        foreach ($codes as $code) if (hash_equals($expected, $code)) return $place;
    }
    throw new Rejected('ERR_SIGNATURE_MISMATCH');
}
