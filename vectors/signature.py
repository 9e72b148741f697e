#!/usr/bin/env python3
"""Writes the signature vectors to standard output, with Python's own hmac and no code of this repository.

Run from the repository root: python3 vectors/signature.py > vectors/signature.json
"""

import base64
import hashlib
import hmac
import json

NOW = 1_700_000_000
SECRET = "whsec_3f9c1e7a5b2d4860"
OLD = "whsec_00d1a2b3c4d5e6f7"
BODY = (
    '{"integrationAddress":"0x' + "a1" * 20 + '","chainId":"8453","txHash":"0x' + "b2" * 32 + '","version":1,'
    '"state":"pending","recipient":{"title":"Café","subtitle":null},"invoice":null}'
).encode()

vectors = []


def code(body=BODY, t=NOW, secret=SECRET):
    """The v1 code: HMAC-SHA256 over the text of t, a dot and the bytes of the body."""
    return hmac.new(secret.encode(), str(t).encode() + b"." + body, hashlib.sha256).hexdigest()


def add(name, header, expect="ok", *, body=BODY, secrets=(SECRET,), now_ms=NOW * 1000, tolerance=300, **more):
    vectors.append(
        {
            "name": name,
            "secrets": list(secrets),
            "body": base64.b64encode(body).decode(),
            "header": header,
            "nowMs": now_ms,
            "toleranceSeconds": tolerance,
            "expect": expect,
            **({"secretIndex": 0} if expect == "ok" else {}),
            **more,
        }
    )


def signed(body=BODY, t=NOW, secret=SECRET):
    return f"t={t},v1={code(body, t, secret)}"


GOOD = code()
HEADER = signed()
MISSING, MALFORMED, SCHEME = "ERR_SIGNATURE_MISSING", "ERR_SIGNATURE_MALFORMED", "ERR_SIGNATURE_SCHEME"
STALE, FUTURE, MISMATCH = "ERR_DELIVERY_STALE", "ERR_DELIVERY_FUTURE", "ERR_SIGNATURE_MISMATCH"
UNKNOWN_CODE = "f" * 64

# Bodies
add("a snapshot", HEADER)
add("an empty body", signed(b""), body=b"")
add("a body that is not JSON", signed(b"hello"), body=b"hello")
add("invalid UTF-8 is hashed as it is", signed(b"\xff\xfe\x80"), body=b"\xff\xfe\x80")
add("U+FFFD is not the byte it replaces", signed(b"\xef\xbf\xbd"), MISMATCH, body=b"\xff")
add("the byte is not the U+FFFD it decodes to", signed(b"\xff"), MISMATCH, body=b"\xef\xbf\xbd")
add("a byte order mark is part of the body", signed(b"\xef\xbb\xbf" + BODY), body=b"\xef\xbb\xbf" + BODY)
add("a byte order mark that was added", HEADER, MISMATCH, body=b"\xef\xbb\xbf" + BODY)
add("a byte order mark that was removed", signed(b"\xef\xbb\xbf" + BODY), MISMATCH)
add("zero bytes", signed(b"\x00a\x00"), body=b"\x00a\x00")
add("a zero byte that was added", HEADER, MISMATCH, body=BODY + b"\x00")
add("a newline that was added", HEADER, MISMATCH, body=BODY + b"\n")
add("CRLF stays CRLF", signed(b"{\r\n}"), body=b"{\r\n}")
add("CRLF turned into LF", signed(b"{\r\n}"), MISMATCH, body=b"{\n}")
add("the same JSON written again", HEADER, MISMATCH, body=json.dumps(json.loads(BODY)).encode())
add("composed and decomposed text differ", signed("é".encode()), MISMATCH, body="e\u0301".encode())
add("a truncated body", HEADER, MISMATCH, body=BODY[:-1])
add("one bit of the body flipped", HEADER, MISMATCH, body=BODY[:-1] + bytes([BODY[-1] ^ 1]))
add("every byte value", signed(bytes(range(256))), body=bytes(range(256)))
add("a body of 8 KiB", signed(b"a" * 8192), body=b"a" * 8192)

# Secrets
add("the second of two secrets", signed(secret=OLD), secrets=(SECRET, OLD), secretIndex=1)
add("the first of two secrets", HEADER, secrets=(SECRET, OLD))
add("the only secret is another one", signed(secret=OLD), MISMATCH)
add("the prefix is part of the secret", signed(secret=SECRET.removeprefix("whsec_")), MISMATCH)
add("a secret outside ASCII", signed(secret="ключ-é-🔑"), secrets=("ключ-é-🔑",))
add("a secret longer than the hash block", signed(secret="k" * 200), secrets=("k" * 200,))
add("a secret of exactly one hash block", signed(secret="k" * 64), secrets=("k" * 64,))
add("a secret of one character", signed(secret="k"), secrets=("k",))
add("the empty key opens nothing", signed(secret=""), MISMATCH)

# Time
for tolerance in (300, 60, 1, 0):
    add(f"the oldest second of a {tolerance} s window", signed(t=NOW - tolerance), tolerance=tolerance, ageSeconds=tolerance)
    add(f"one second older than a {tolerance} s window", signed(t=NOW - tolerance - 1), STALE, tolerance=tolerance)
    add(f"the newest second of a {tolerance} s window", signed(t=NOW + tolerance), tolerance=tolerance, ageSeconds=-tolerance)
    add(f"one second ahead of a {tolerance} s window", signed(t=NOW + tolerance + 1), FUTURE, tolerance=tolerance)
add("the last millisecond of the oldest second", signed(t=NOW - 300), now_ms=NOW * 1000 + 999, ageSeconds=300)
add("the millisecond after it", signed(t=NOW - 300), STALE, now_ms=NOW * 1000 + 1000)
add("t is 0, long ago", signed(t=0), STALE)
add("t is 0, at the epoch", signed(t=0), now_ms=0)
add("t has 12 digits, far ahead", signed(t=999_999_999_999), FUTURE)
add("a stale forgery is rejected for its time", f"t={NOW - 301},v1={UNKNOWN_CODE}", STALE)
add("t was changed after signing", f"t={NOW + 1},v1={GOOD}", MISMATCH)

# The header's shape
add("no header", None, MISSING)
add("an empty header", "", MISSING)
add("a blank header", " \t ", MISSING)
add("t in milliseconds", f"t={NOW * 1000},v1={code(t=NOW * 1000)}", MALFORMED)
for label, t in {
    "nothing": "", "a sign": f"+{NOW}", "a minus": f"-{NOW}", "letters after it": f"{NOW}abc", "letters": "abc",
    "a fraction": f"{NOW}.0", "an exponent": "17e8", "hex": "0x6553f100", "a leading zero": f"0{NOW}",
    "digits of another script": "１７０００００００００", "a space inside": "1700 000000", "13 digits": "1" * 13, "NaN": "NaN",
}.items():
    add(f"t is {label}" if t in ("", "abc", "NaN", "17e8") else f"t has {label}", f"t={t},v1={code(t=t)}", MALFORMED)
add("no t", f"v1={GOOD}", MALFORMED)
add("two t fields", f"t={NOW},t={NOW},v1={GOOD}", MALFORMED)
add("two t fields, the second a lie", f"t={NOW},v1={GOOD},t={NOW - 1000}", MALFORMED)
add("T is not t", f"T={NOW},v1={GOOD}", MALFORMED)
add("no v1", f"t={NOW}", SCHEME)
add("only a newer scheme", f"t={NOW},v2={GOOD}", SCHEME)
add("V1 is not v1", f"t={NOW},V1={GOOD}", SCHEME)
add("v01 is not v1", f"t={NOW},v01={GOOD}", SCHEME)
for label, v1 in {
    "empty": "", "one digit short": GOOD[:-1], "one digit long": GOOD + "0", "upper case": GOOD.upper(), "with a prefix": "0x" + GOOD,
    "with dashes": "-".join(GOOD[i : i + 2] for i in range(0, 64, 2)), "not hex": "g" * 64, "base64": base64.b64encode(bytes.fromhex(GOOD)).decode(),
    "64 characters, one of them é": GOOD[:-1] + "é", "with a space inside": GOOD[:32] + " " + GOOD[33:], "quoted": f'"{GOOD}"',
    "twice as long": GOOD + GOOD, "with a zero byte": GOOD[:-1] + "\x00", "two codes joined by a semicolon": GOOD + ";" + GOOD,
}.items():
    add(f"v1 is {label}", f"t={NOW},v1={v1}", MALFORMED)
add("v1 without a value", f"t={NOW},v1", MALFORMED)
add("the code alone", GOOD, MALFORMED)
add("a field without a name", f"t={NOW},v1={GOOD},=x", MALFORMED)
add("a trailing comma", HEADER + ",", MALFORMED)
add("an empty field", f"t={NOW},,v1={GOOD}", MALFORMED)
add("semicolons for commas", f"t={NOW};v1={GOOD}", MALFORMED)
add("a newline inside", f"t={NOW},\nv1={GOOD}", MALFORMED)
add("a space before the equals sign", f"t ={NOW},v1={GOOD}", MALFORMED)
add("a space after the equals sign", f"t= {NOW},v1={GOOD}", MALFORMED)
add("v1 before t", f"v1={GOOD},t={NOW}")
add("spaces and tabs around fields", f" t={NOW} ,\tv1={GOOD} ")
add("unknown fields", f"t={NOW},v0=abc,v1={GOOD},v2=??,key=k=1,x=")
add("unknown names of objects", f"t={NOW},__proto__=1,constructor=2,v1={GOOD}")
add("more than 4096 characters", HEADER + ",x=" + "a" * 4096, MALFORMED)

# Several codes
add("two codes, the first right", f"t={NOW},v1={GOOD},v1={UNKNOWN_CODE}")
add("two codes, the second right", f"t={NOW},v1={UNKNOWN_CODE},v1={GOOD}")
add("two codes, none right", f"t={NOW},v1={UNKNOWN_CODE},v1={'0' * 64}", MISMATCH)
add("two codes, one of them malformed", f"t={NOW},v1={GOOD},v1=abc", MALFORMED)
add("codes of two secrets, the receiver has both", f"t={NOW},v1={code(secret=OLD)},v1={GOOD}", secrets=(SECRET, OLD))
add("codes of two secrets, the receiver has the old one", f"t={NOW},v1={GOOD},v1={code(secret=OLD)}", secrets=(OLD,))
add("eight codes, the last right", f"t={NOW}," + f"v1={UNKNOWN_CODE}," * 7 + f"v1={GOOD}")
add("nine codes", f"t={NOW}," + f"v1={UNKNOWN_CODE}," * 8 + f"v1={GOOD}", MALFORMED)
add("all zeros", f"t={NOW},v1={'0' * 64}", MISMATCH)
add("first half right", f"t={NOW},v1={GOOD[:32]}{'0' * 32}", MISMATCH)
add("last digit wrong", f"t={NOW},v1={GOOD[:-1]}{'0' if GOOD[-1] != '0' else '1'}", MISMATCH)
add("the code of the body without t", f"t={NOW},v1={hmac.new(SECRET.encode(), BODY, hashlib.sha256).hexdigest()}", MISMATCH)
add("the plain hash of the signed string", f"t={NOW},v1={hashlib.sha256(str(NOW).encode() + b'.' + BODY).hexdigest()}", MISMATCH)

names = [vector["name"] for vector in vectors]
assert len(names) == len(set(names)), [name for name in names if names.count(name) > 1]


def line(key, value):
    """One field, in the layout of the repository's formatter: a list on one line where 120 columns hold it."""
    text = f"    {json.dumps(key)}: {json.dumps(value)}"
    if isinstance(value, list) and len(text) + 1 > 120:
        text = f"    {json.dumps(key)}: [\n" + ",\n".join(f"      {json.dumps(item)}" for item in value) + "\n    ]"
    return text


print("[")
print(",\n".join("  {\n" + ",\n".join(line(*field) for field in vector.items()) + "\n  }" for vector in vectors))
print("]")
