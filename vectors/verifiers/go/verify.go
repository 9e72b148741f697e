// Verifies a notification. Needs Go 1.18 or later and nothing else.
package main

import ("crypto/hmac"; "crypto/sha256"; "encoding/hex"; "regexp"; "strconv"; "strings")

var fieldName, hexCode = regexp.MustCompile(`^[^\s=,]+$`), regexp.MustCompile(`^[0-9a-f]{64}$`)
var unixTime = regexp.MustCompile(`^(0|[1-9][0-9]{0,11})$`)

// verify returns the place of the secret that signed the bytes of body, or -1 and the code of the rejection. It panics
// when a secret is empty, blank or padded: an unset variable must not become a key that everybody knows.
func verify(secrets []string, header string, body []byte, nowMs, tolerance int64) (int, string) {
	for _, secret := range secrets {
		if secret == "" || secret != strings.TrimSpace(secret) { panic("a secret is empty, blank or padded") }
	}
	if strings.Trim(header, " \t") == "" { return -1, "ERR_SIGNATURE_MISSING" }
	var times, codes []string
	shaped, hexOnly := len(header) <= 4096, true
	for _, field := range strings.Split(header, ",") {
		name, value, found := strings.Cut(strings.Trim(field, " \t"), "=")
		shaped = shaped && found && fieldName.MatchString(name)
		if name == "t" { times = append(times, value) }
		if name == "v1" { codes, hexOnly = append(codes, value), hexOnly && hexCode.MatchString(value) }
	}
	if !shaped || len(times) != 1 || !unixTime.MatchString(times[0]) { return -1, "ERR_SIGNATURE_MALFORMED" }
	if len(codes) == 0 { return -1, "ERR_SIGNATURE_SCHEME" }
	if len(codes) > 8 || !hexOnly { return -1, "ERR_SIGNATURE_MALFORMED" }
	signed, _ := strconv.ParseInt(times[0], 10, 64)
	age := nowMs/1000 - signed
	if age > tolerance { return -1, "ERR_DELIVERY_STALE" }
	if -age > tolerance { return -1, "ERR_DELIVERY_FUTURE" }
	for place, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(times[0] + "."))
		mac.Write(body)
		expected := []byte(hex.EncodeToString(mac.Sum(nil)))
		for _, code := range codes {
			if hmac.Equal(expected, []byte(code)) { return place, "ok" }
		}
	}
	return -1, "ERR_SIGNATURE_MISMATCH"
}
