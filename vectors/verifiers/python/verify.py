"""Verifies a notification. Needs Python 3.8 or later and nothing else."""

import hashlib
import hmac
import re


class Rejected(Exception):
    """The notification is not genuine. The text is the code of the rejection."""


def verify(secrets, header, body, now_ms, tolerance=300):
    """The place of the secret that signed `body` (bytes). Raises Rejected, and ValueError for unusable secrets."""
    if isinstance(secrets, str) or any(not secret or secret != secret.strip() for secret in secrets):
        raise ValueError("secrets must be a list of texts, none of them empty, blank or padded")
    if header is None or header.strip(" \t") == "":
        raise Rejected("ERR_SIGNATURE_MISSING")
    times, codes, malformed = [], [], len(header) > 4096
    for field in header.split(","):
        name, equals, value = field.strip(" \t").partition("=")
        malformed = malformed or not equals or not re.fullmatch(r"[^\s=,]+", name)
        if name == "t":
            times.append(value)
        if name == "v1":
            codes.append(value)
    if malformed or len(times) != 1 or not re.fullmatch(r"0|[1-9][0-9]{0,11}", times[0]):
        raise Rejected("ERR_SIGNATURE_MALFORMED")
    if not codes:
        raise Rejected("ERR_SIGNATURE_SCHEME")
    if len(codes) > 8 or not all(re.fullmatch(r"[0-9a-f]{64}", code) for code in codes):
        raise Rejected("ERR_SIGNATURE_MALFORMED")
    age = now_ms // 1000 - int(times[0])
    if abs(age) > tolerance:
        raise Rejected("ERR_DELIVERY_STALE" if age > 0 else "ERR_DELIVERY_FUTURE")
    for place, secret in enumerate(secrets):
        expected = hmac.new(secret.encode(), times[0].encode() + b"." + body, hashlib.sha256).hexdigest()
        if any(hmac.compare_digest(expected, code) for code in codes):
            return place
    raise Rejected("ERR_SIGNATURE_MISMATCH")
