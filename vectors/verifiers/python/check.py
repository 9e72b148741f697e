"""Runs verify.py over the vectors: python3 vectors/verifiers/check.py vectors/signature.json"""

import base64
import json
import sys

from verify import Rejected, verify

cases = json.load(open(sys.argv[1], encoding="utf-8"))
wrong = 0
for case in cases:
    body = base64.b64decode(case["body"])
    try:
        verdict = verify(case["secrets"], case["header"], body, case["nowMs"], case["toleranceSeconds"])
    except Rejected as rejection:
        verdict = str(rejection)
    expected = case["secretIndex"] if case["expect"] == "ok" else case["expect"]
    if verdict != expected:
        wrong += 1
        print(f"{case['name']}: {verdict}, not {expected}")
for unusable in ([""], ["whsec_a", " "], ["whsec_a\n"], "whsec_a"):
    try:
        verify(unusable, None, b"", 0)
        wrong += 1
        print(f"unusable secrets are accepted: {unusable!r}")
    except ValueError:
        pass
print(f"{len(cases)} cases, {wrong} wrong")
sys.exit(1 if wrong or not cases else 0)
