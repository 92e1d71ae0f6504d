package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/uselite"
)

// graph holds the weights of a TensorFlow.js model by name.
type graph struct {
	tensors map[string]tensor
	err     error // the last failure of find
}

type tensor struct {
	shape  []int
	values []float32
}

// packEncoder derives the packed file of the sentence encoder.
func packEncoder(source, _ string) ([]byte, error) {
	folder := filepath.Join(source, "dist")
	g, err := readGraph(folder)
	if err != nil {
		return nil, err
	}
	w := uselite.Weights{
		Embedding: uselite.Matrix{Cols: 256, Values: g.find("module/Embeddings_en").values},
		Timing:    g.find("TimingSignal").values,
	}
	if w.Pieces, w.Scores, err = readVocabulary(folder); err != nil {
		return nil, err
	}
	at := 0
	linear := func(weights, bias tensor) {
		w.Linears[at] = uselite.Linear{Weights: transpose(weights), Bias: bias.values}
		at++
	}
	for i := range 2 {
		layer := fmt.Sprintf("Layer_%d/TransformerLayer", i)
		for j, part := range []string{layer + "/layer_prepostprocess", layer + "/FFN/layer_prepostprocess"} {
			w.Norms[2*i+j] = uselite.Norm{Scale: g.find(part, "norm_scale").values, Bias: g.find(part, "norm_bias").values}
		}
		linear(g.find(layer, "qkv_transform_single/kernel"), g.find(layer, "qkv_transform_single/bias"))
		linear(g.find(layer, "output_transform_single/kernel"), g.find(layer, "output_transform_single/bias"))
		if i == 0 {
			linear(g.find(layer, "dense/kernel"), g.find(layer, "dense/bias"))
		}
		linear(g.find(layer, "FFN/conv1", "Reshape_1"), g.find(layer, "FFN/conv1/bias"))
		linear(g.find(layer, "FFN/conv2", "Reshape_1"), g.find(layer, "FFN/conv2/bias"))
	}
	linear(g.find("tanh_layer_0/weights"), g.find("tanh_layer_0/bias"))
	if g.err != nil {
		return nil, g.err
	}
	packed := w.Pack()
	_, err = uselite.Read(slices.Clone(packed))
	return packed, err
}

// find returns the only tensor whose name contains every part. If there is not exactly
// one, it sets err.
func (g *graph) find(parts ...string) tensor {
	var found []string
	for name := range g.tensors {
		if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(name, part) }) {
			found = append(found, name)
		}
	}
	if len(found) != 1 {
		g.err = fmt.Errorf("%d weights have %q in their names, not exactly one", len(found), parts)
		return tensor{}
	}
	return g.tensors[found[0]]
}

// transpose converts a matrix with one column for each output, as TensorFlow has it, to
// one with a row for each output.
func transpose(t tensor) uselite.Matrix {
	if len(t.shape) < 2 {
		return uselite.Matrix{Cols: 1}
	}
	in, out := t.shape[len(t.shape)-2], t.shape[len(t.shape)-1]
	m := uselite.Matrix{Cols: in, Values: make([]float32, in*out)}
	for i := range in {
		for o := range out {
			m.Values[o*in+i] = t.values[i*out+o]
		}
	}
	return m
}

func readGraph(folder string) (*graph, error) {
	var manifest struct {
		WeightsManifest []struct {
			Paths   []string `json:"paths"`
			Weights []struct {
				Name  string `json:"name"`
				Dtype string `json:"dtype"`
				Shape []int  `json:"shape"`
			} `json:"weights"`
		} `json:"weightsManifest"`
	}
	if err := readJSON(filepath.Join(folder, "model.json"), &manifest); err != nil {
		return nil, err
	}
	g := &graph{tensors: map[string]tensor{}}
	for _, group := range manifest.WeightsManifest {
		var data []byte
		for _, path := range group.Paths {
			shard, err := os.ReadFile(filepath.Join(folder, path)) //nolint:gosec // the package chooses the path
			if err != nil {
				return nil, err
			}
			data = append(data, shard...)
		}
		for _, w := range group.Weights {
			n := 1
			for _, size := range w.Shape {
				n *= size
			}
			if n < 0 || 4*n > len(data) {
				return nil, fmt.Errorf("the shards end within %s", w.Name)
			}
			if w.Dtype == "float32" {
				g.tensors[w.Name] = tensor{shape: w.Shape, values: floats(data[:4*n])}
			}
			data = data[4*n:]
		}
	}
	return g, nil
}

func floats(data []byte) []float32 {
	values := make([]float32, len(data)/4)
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return values
}

// readVocabulary reads the pieces of the tokenizer and their scores from a list of pairs.
func readVocabulary(folder string) (pieces []string, scores []float32, err error) {
	var pairs [][2]json.RawMessage
	if err := readJSON(filepath.Join(folder, "vocab.json"), &pairs); err != nil {
		return nil, nil, err
	}
	pieces, scores = make([]string, len(pairs)), make([]float32, len(pairs))
	for i, pair := range pairs {
		var score float64
		if err := json.Unmarshal(pair[0], &pieces[i]); err != nil {
			return nil, nil, fmt.Errorf("piece %d: %w", i, err)
		}
		if err := json.Unmarshal(pair[1], &score); err != nil {
			return nil, nil, fmt.Errorf("piece %d: %w", i, err)
		}
		scores[i] = float32(score)
	}
	return pieces, scores, nil
}

func readJSON(path string, v any) error {
	data, err := read(path, strings.HasSuffix(path, ".gz"))
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}
