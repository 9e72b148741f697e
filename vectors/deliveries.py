#!/usr/bin/env python3
"""Writes the delivery vectors to standard output, with Python's own hmac and json and no code of this repository.

Run from the repository root: python3 vectors/deliveries.py > vectors/deliveries.json
"""

import base64
import hashlib
import hmac
import json
import re

NOW = 1_700_000_000
SECRET = "whsec_3f9c1e7a5b2d4860"
OTHER_SECRET = "whsec_00d1a2b3c4d5e6f7"
ADDRESS = "0x" + "a1" * 20
OTHER = "0x" + "c3" * 20
SNAPSHOT = {
    "integrationAddress": ADDRESS,
    "chainId": "8453",
    "txHash": "0x" + "b2" * 32,
    "version": 1,
    "state": "pending",
    "recipient": {"title": "Café", "subtitle": None},
    "invoice": {"amount": "12.50", "currency": "EUR", "settlementAmount": "13.61", "settlementCurrency": "USD"},
}
# The states of docs/interface.md 3; the snapshot above has the first.
STATES = re.findall(r"`(\w+)`", re.search(r"^A payment is ([^;]*); null", open("docs/interface.md").read(), re.M)[1])
SECRETS = {ADDRESS: [SECRET], OTHER: [OTHER_SECRET]}
INVALID, MISMATCH = "ERR_SNAPSHOT_INVALID", "ERR_INTEGRATION_MISMATCH"
UNKNOWN, FORGED = "ERR_INTEGRATION_UNKNOWN", "ERR_SIGNATURE_MISMATCH"

vectors = []


def code(body, secret=SECRET, t=NOW):
    return hmac.new(secret.encode(), str(t).encode() + b"." + body, hashlib.sha256).hexdigest()


def add(name, expect="ok", *, snapshot=SNAPSHOT, body=None, signature=None, integration=ADDRESS, secret=SECRET, more=(), **facts):
    body = json.dumps(snapshot, ensure_ascii=False).encode() if body is None else body
    signature = f"t={NOW},v1={code(body, secret)}" if signature is None else signature
    headers = [["X-Service-Signature", signature]] + ([] if integration is None else [["X-Service-Integration", integration]])
    vectors.append(
        {
            "name": name,
            "secrets": SECRETS,
            "headers": headers + list(more),
            "body": base64.b64encode(body).decode(),
            "nowMs": NOW * 1000,
            "expect": expect,
            **facts,
        }
    )


def change(path, value):
    """The snapshot with one field changed; `...` removes it."""
    copy = json.loads(json.dumps(SNAPSHOT))
    *outer, last = path.split(".")
    record = copy
    for name in outer:
        record = record[name]
    if value is ...:
        del record[last]
    else:
        record[last] = value
    return copy


# Accepted
add("a snapshot")
for state in STATES[1:]:
    add(f"state {state}", snapshot=change("state", state))
add("no state", snapshot=change("state", None))
add("a state of a newer service", snapshot=change("state", "disputed"))
add("no recipient", snapshot=change("recipient", None))
add("no invoice", snapshot=change("invoice", None))
add("a subtitle", snapshot=change("recipient.subtitle", "Berlin"))
add("empty merchant text", snapshot=change("recipient.title", ""))
add("the largest version that numbers hold", snapshot=change("version", 2**53 - 1))
add("an amount without a fraction", snapshot=change("invoice.amount", "0"))
add("an amount of many digits", snapshot=change("invoice.amount", "123456789012345678901234567890.000000000000000001"))
add("a field of a newer service", snapshot={**SNAPSHOT, "settledAt": 5})
add("a field of a newer service in the recipient", snapshot=change("recipient.logo", "x"))
add("white space around the JSON", body=b" \n" + json.dumps(SNAPSHOT).encode() + b"\r\n\t")
add("escaped text", body=json.dumps(SNAPSHOT).encode())
add("fields in another order", body=json.dumps(dict(reversed(SNAPSHOT.items()))).encode())
add("another integration with its own secret", snapshot=change("integrationAddress", OTHER), integration=OTHER, secret=OTHER_SECRET)

# The integration
add("no integration header", UNKNOWN, integration=None)
add("an empty integration header", UNKNOWN, integration="")
add("an integration that nobody knows", UNKNOWN, integration="0x" + "d4" * 20)
add("an integration in upper case", UNKNOWN, integration=ADDRESS.upper())
add("an integration that is a property of objects", UNKNOWN, integration="__proto__")
add("an integration with a path", UNKNOWN, integration="../" + ADDRESS)
add("the integration header twice", UNKNOWN, more=[["X-Service-Integration", ADDRESS]])
add("the secret of one integration speaks for another", MISMATCH, integration=OTHER, secret=OTHER_SECRET)
add("the header names another integration than the one that signed", FORGED, integration=OTHER)
add("the signature header twice", "ERR_SIGNATURE_MALFORMED", more=[["x-service-signature", f"t={NOW},v1={'0' * 64}"]])

# A signed body that is no snapshot
for name, body in {
    "nothing": b"", "text": b"hello", "null": b"null", "an array": json.dumps([SNAPSHOT]).encode(), "a number": b"1", "a string": b'"x"',
    "cut JSON": json.dumps(SNAPSHOT).encode()[:-1], "JSON with a byte order mark": b"\xef\xbb\xbf" + json.dumps(SNAPSHOT).encode(),
    "invalid UTF-8 in a text": json.dumps(SNAPSHOT).encode().replace(b"pending", b"\xff"), "two JSON texts": json.dumps(SNAPSHOT).encode() * 2,
    "UTF-16": json.dumps(SNAPSHOT).encode("utf-16"), "JSON with a comment": b"/**/" + json.dumps(SNAPSHOT).encode(),
}.items():
    add(f"signed: {name}", INVALID, body=body, field="")
for path in (
    "integrationAddress", "chainId", "txHash", "version", "state", "recipient", "invoice", "recipient.title", "recipient.subtitle",
    "invoice.amount", "invoice.currency", "invoice.settlementAmount", "invoice.settlementCurrency",
):
    add(f"without {path}", INVALID, snapshot=change(path, ...), field=path)
    if path not in ("state", "recipient", "invoice", "recipient.subtitle"):
        add(f"{path} is null", INVALID, snapshot=change(path, None), field=path)
    add(f"{path} is a list", INVALID, snapshot=change(path, ["x"]), field=path)
for path, values in {
    "integrationAddress": [ADDRESS.upper(), ADDRESS[:-1], ADDRESS + "0", ADDRESS + "\n"],
    "chainId": [8453, "0", "01", "0x1", "1" * 16],
    "txHash": ["0x" + "B2" * 32, "0x" + "b2" * 31],
    "version": [0, -1, 1.5, "1", 2**53, True],
    "state": ["", 1, {}],
    "recipient": ["Shop", {}],
    "invoice.amount": [12.5, "1e3", "01", "-1", "1.", ".5", "1,5", " 1"],
    "invoice.currency": ["eur", "EURO", "€"],
}.items():
    for value in values:
        field = "recipient.title" if (path, value) == ("recipient", {}) else path
        add(f"{path} is {json.dumps(value)}", INVALID, snapshot=change(path, value), field=field)

names = [vector["name"] for vector in vectors]
assert len(names) == len(set(names)), [name for name in names if names.count(name) > 1]
print(json.dumps(vectors, indent=2, ensure_ascii=False))
