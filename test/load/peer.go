// The Go peer: net/http with its file server (sendfile on Linux) for /file, and one text from memory for /text.
package main

import (
	"log"
	"net/http"
	"os"
	"strconv"
)

func main() { // peer ADDRESS FILE TEXTFILE
	text, err := os.ReadFile(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/text", func(w http.ResponseWriter, r *http.Request) {
		r.URL.Query().Get("mac")
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		w.Write(text)
	})
	http.HandleFunc("/file", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, os.Args[2]) })
	log.Fatal(http.ListenAndServe(os.Args[1], nil))
}
