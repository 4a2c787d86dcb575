package fritillary

import (
	"os"
	"strings"
	"testing"
)

func TestTheReadmeShowsTheExampleAsItIs(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile("examples/uniform/main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(code), "package main\n")
	if shown := "```go\npackage main\n" + body + "```"; !strings.Contains(string(page), shown) {
		t.Error("it shows something else")
	}
}
