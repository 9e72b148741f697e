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
	fmt.Printf("%d cases, %d wrong\n", len(cases), wrong)
	if wrong > 0 || len(cases) == 0 {
		os.Exit(1)
	}
}
