package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net/mail"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// sample is one labelled text for a quality gate.
type sample struct {
	Text  string `json:"text"`
	Label bool   `json:"label"`
}

// reviews returns the sentences of the UCI set "Sentiment Labelled Sentences" from the
// fixtures of the package. Label true is a positive sentence.
func reviews(source, _ string) ([]byte, error) {
	var samples []sample
	for _, name := range []string{"amazon.json", "imdb.json", "yelp.json"} {
		var items []struct {
			Text  string `json:"text"`
			Class *int   `json:"class"` // null in a last, empty item
		}
		if err := readJSON(filepath.Join(source, "test", "fixtures", name), &items); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, item := range items {
			if item.Class != nil {
				samples = append(samples, sample{Text: item.Text, Label: *item.Class == 1})
			}
		}
	}
	return lines(samples)
}

const (
	mailsPerLabel = 300
	mailRunes     = 500
)

// mails returns evenly spaced mails of the SpamAssassin corpus: the subject and the
// beginning of the text. Label true is spam. Mails with several parts are left out, and
// addresses are removed from the others.
func mails(source, _ string) ([]byte, error) {
	var samples []sample
	for _, group := range []struct {
		spam    bool
		folders []string
	}{
		{true, []string{"spam-1", "spam-2"}},
		{false, []string{"easy-ham-1", "easy-ham-2", "hard-ham-1"}},
	} {
		var texts []string
		for _, folder := range group.folders {
			paths, err := filepath.Glob(filepath.Join(source, "data", folder, "*.txt"))
			if err != nil {
				return nil, err
			}
			slices.Sort(paths)
			for _, path := range paths {
				content, err := os.ReadFile(path) //nolint:gosec // the caller chooses the path
				if err != nil {
					return nil, err
				}
				if text, ok := mailText(content); ok {
					texts = append(texts, text)
				}
			}
		}
		if len(texts) < mailsPerLabel {
			return nil, fmt.Errorf("only %d mails in %q", len(texts), group.folders)
		}
		for i := range mailsPerLabel {
			samples = append(samples, sample{Text: texts[i*len(texts)/mailsPerLabel], Label: group.spam})
		}
	}
	return lines(samples)
}

// mailText returns the subject and the beginning of the text of a mail, and false for a
// mail that has several parts or cannot be read.
func mailText(content []byte) (text string, ok bool) {
	if bytes.HasPrefix(content, []byte("From ")) { // separator line of the mbox format
		_, content, _ = bytes.Cut(content, []byte("\n"))
	}
	message, err := mail.ReadMessage(bytes.NewReader(content))
	if err != nil {
		return "", false
	}
	kind, _, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil && message.Header.Get("Content-Type") != "" || strings.HasPrefix(kind, "multipart/") {
		return "", false
	}
	body := message.Body
	switch strings.ToLower(message.Header.Get("Content-Transfer-Encoding")) {
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	}
	decoded, err := io.ReadAll(body)
	if err != nil || !utf8.Valid(decoded) {
		return "", false
	}
	subject, err := (&mime.WordDecoder{}).DecodeHeader(message.Header.Get("Subject"))
	if err != nil {
		return "", false
	}
	text = tidy(subject + ". " + string(decoded))
	return text, len(text) > 40
}

var (
	markup    = regexp.MustCompile(`(?s)<style.*?</style>|<script.*?</script>|<!--.*?-->|<[^>]*>|&[a-z]+;`)
	addresses = regexp.MustCompile(`\S+@\S+|https?://\S+|www\.\S+`)
)

// tidy removes markup and addresses and cuts the text after mailRunes characters.
func tidy(text string) string {
	text = markup.ReplaceAllString(text, " ")
	text = addresses.ReplaceAllString(text, "")
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > mailRunes {
		text = string(runes[:mailRunes])
	}
	return text
}

func lines(samples []sample) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	for _, s := range samples {
		if err := e.Encode(s); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}
