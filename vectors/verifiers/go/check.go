// Runs verify.go over the vectors: go run vectors/verifiers/go/*.go vectors/signature.json
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

type vector struct {
	Name, Header, Expect string
	Secrets              []string
	Body                 []byte
	NowMs                int64
	ToleranceSeconds     int64
	SecretIndex          int
}

func main() {
	text, _ := os.ReadFile(os.Args[1])
	var cases []vector
	if err := json.Unmarshal(text, &cases); err != nil {
		panic(err)
	}
	wrong := 0
	for _, each := range cases {
		place, verdict := verify(each.Secrets, each.Header, each.Body, each.NowMs, each.ToleranceSeconds)
		if verdict != each.Expect || verdict == "ok" && place != each.SecretIndex {
			wrong++
			fmt.Printf("%s: %s\n", each.Name, verdict)
		}
	}
	for _, unusable := range [][]string{{""}, {"whsec_a", " "}, {"whsec_a\n"}} {
		if !panics(func() { verify(unusable, "", nil, 0, 300) }) {
			wrong++
			fmt.Printf("unusable secrets are accepted: %q\n", unusable)
		}
	}
	fmt.Printf("%d cases, %d wrong\n", len(cases), wrong)
	if wrong > 0 || len(cases) == 0 {
		os.Exit(1)
	}
}

func panics(call func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	call()
	return
}
