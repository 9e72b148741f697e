#!/usr/bin/env python3
"""Writes the identity provider's signature vectors to standard output, with OpenSSL's command and no code of this repository.

Run from the repository root: python3 vectors/identity-signatures.py > vectors/identity-signatures.json
Two cases were published, by the provider and by an independent client of it; the script stops when OpenSSL disagrees with them.
"""

import base64
import json
import subprocess

PUBLISHED = "published"


def hmac_hex(digest, secret, data):
    key = f"hexkey:{secret.encode().hex()}"
    made = subprocess.run(
        ["openssl", "dgst", f"-{digest}", "-mac", "HMAC", "-macopt", key], input=data, capture_output=True, check=True
    )
    return made.stdout.decode().strip().split(" ")[-1]


requests, webhooks = [], []


def request(name, method, uri, *, secret="s3cr3t-key-of-a-client", timestamp=1_767_225_600, body=b"", published=None):
    signature = hmac_hex("sha256", secret, f"{timestamp}{method}{uri}".encode() + body)
    assert published in (None, signature), name
    requests.append(
        {
            "name": name,
            "published": published is not None,
            "secretKey": secret,
            "timestamp": timestamp,
            "method": method,
            "uri": uri,
            "body": base64.b64encode(body).decode(),
            "signature": signature,
        }
    )


def webhook(name, algorithm, body, *, secret="whsec-of-the-provider", published=None):
    digest = hmac_hex({"1": "sha1", "256": "sha256", "512": "sha512"}[algorithm], secret, body)
    assert published in (None, digest), name
    webhooks.append(
        {
            "name": name,
            "published": published is not None,
            "secret": secret,
            "algorithm": f"HMAC_SHA{algorithm}_HEX",
            "body": base64.b64encode(body).decode(),
            "digest": digest,
        }
    )


request(
    "the example of an independent client",
    "POST",
    "/resources/accessTokens",
    secret="api_secret",
    timestamp=1_712_760_187,
    body=b'{"userId":"1000","levelName":"default","ttl":60}',
    published="260c8893fb0317e8a714ce3bce9c16821649f1e27a49bd7d926fcf23942628c0",
)
request(
    "the string that the provider's documentation signs",
    "POST",
    "/resources/accessTokens?userId=cfd20712-24a2-4c7d-9ab0-146f3c142335&levelName=basic-kyc-level&ttlInSecs=600",
    timestamp=1_607_551_635,
)
request("minting by query", "POST", "/resources/accessTokens/shareToken?applicantId=63e092c51b7b4030f2e01154&forClientId=CoolCoinLtd")
request(
    "minting by body",
    "POST",
    "/resources/accessTokens/shareToken",
    body=b'{\n  "applicantId": "63e092c51b7b4030f2e01154",\n  "forClientId": "CoolCoinLtd",\n  "ttlInSecs": "600"\n}\n',
)
request(
    "a share token whose characters are escaped",
    "POST",
    "/resources/api/reusableIdentity/reuse?shareToken=_act-jwt-eyJhbGciOiJub25lIn0.e%2B%2F%3D.&levelName=id+and+liveness&userId=pi%3A1",
)
request("a matrix parameter", "GET", "/resources/applicants/-;externalUserId=pi%3A0b%2F1/one")
request("a status", "GET", "/resources/applicants/63e092c51b7b4030f2e01154/status")
request("a body of bytes that are no text", "POST", "/resources/applicants/-/info/idDoc", body=bytes(range(256)))
request("a key beyond ASCII", "GET", "/resources/applicants/1/one", secret="schlüssel-ключ-🔑")
request("a key longer than the block of the hash", "GET", "/resources/applicants/1/one", secret="k" * 200)
request("the first second of the epoch", "GET", "/", timestamp=0)

reviewed = (
    b'{"applicantId":"5cb744200a975a67ed1798a4","correlationId":"req-fa94263f-0b23-42d7-9393-ab10b28ef42d",'
    b'"externalUserId":"pi:1","type":"applicantReviewed","reviewResult":{"reviewAnswer":"GREEN"},"reviewStatus":"completed",'
    b'"createdAtMs":"2020-02-21 13:23:19.321","sandboxMode":false}'
)
webhook(
    "the provider's own example",
    "1",
    b"someText",
    secret="SoMe_SeCrEt_KeY",
    published="f6e92ffe371718694d46e28436f76589312df8db",
)
for size in ("256", "512"):
    webhook(f"the text of the provider's example, SHA-{size}", size, b"someText", secret="SoMe_SeCrEt_KeY")
    webhook(f"a verdict, SHA-{size}", size, reviewed)
    webhook(f"an empty body, SHA-{size}", size, b"")
    webhook(f"every byte, SHA-{size}", size, bytes(range(256)))
    webhook(f"a secret beyond ASCII, SHA-{size}", size, reviewed, secret="schlüssel-ключ-🔑")
    webhook(f"a secret longer than the block of the hash, SHA-{size}", size, reviewed, secret="k" * 200)
webhook("a verdict, SHA-1", "1", reviewed)

print(json.dumps({"requests": requests, "webhooks": webhooks}, indent=2, ensure_ascii=False))
