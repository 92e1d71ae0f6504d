package main

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/systemone"
)

// printer writes one outcome to standard output.
type printer interface {
	write(o outcome) error
}

// linePrinter writes JSON Lines, for programs.
type linePrinter struct{ out io.Writer }

// answered and failed are the two forms of a line.
type (
	answered struct {
		ID       string            `json:"id"`
		Source   string            `json:"source"`
		Answers  systemone.Answers `json:"answers"`
		Provider string            `json:"provider"`
		Model    string            `json:"model"`
		Cost     json.Number       `json:"cost"`
	}
	failed struct {
		ID     string `json:"id"`
		Source string `json:"source"`
		Error  string `json:"error"`
	}
)

func (p linePrinter) write(o outcome) error {
	var row any
	if o.err != nil {
		row = failed{ID: o.id, Source: o.source, Error: reason(o.err)}
	} else {
		r := o.result.Response
		row = answered{
			ID: o.id, Source: o.source, Answers: r.Answers, Provider: r.Provider, Model: r.Model,
			Cost: json.Number(o.result.Cost.String()),
		}
	}
	line, err := encode(row)
	if err != nil {
		return err
	}
	_, err = p.out.Write(append(line, '\n'))
	return err
}

// tablePrinter writes a table, for people. Its columns are as wide as the questions allow an answer to be,
// so that rows can be written as they come.
type tablePrinter struct {
	out       io.Writer
	questions []systemone.Question
	width     int // of the terminal; 0: unknown
	begun     bool
}

// Widths of columns, in cells of the terminal.
const (
	idWidth     = 24
	answerWidth = 28
	titleWidth  = 24 // at least
)

func (p *tablePrinter) write(o outcome) error {
	var rows strings.Builder
	if !p.begun {
		p.begun = true
		p.row(&rows, "ID", func(q systemone.Question) string { return q.Name }, "ITEM")
	}
	if o.err != nil {
		rows.WriteString(pad(o.id, idWidth) + "  error: " + printable(o.source) + ": " + printable(reason(o.err)) + "\n")
	} else {
		p.row(&rows, o.id, func(q systemone.Question) string { return cell(q, o.result.Response.Answers) }, o.title)
	}
	_, err := io.WriteString(p.out, rows.String())
	return err
}

// row writes a row; what the item is about gets the room that is left.
func (p *tablePrinter) row(to *strings.Builder, id string, answer func(systemone.Question) string, title string) {
	to.WriteString(pad(id, idWidth))
	used := idWidth
	for _, q := range p.questions {
		to.WriteString("  " + pad(answer(q), columnWidth(q)))
		used += 2 + columnWidth(q)
	}
	room := titleWidth
	if p.width > 0 {
		room = max(room, p.width-used-3)
	}
	to.WriteString("  " + strings.TrimRight(pad(title, room), " ") + "\n")
}

// columnWidth is how wide the longest answer to a question can be, and its name.
func columnWidth(q systemone.Question) int {
	w := cells(q.Name)
	switch q.Kind {
	case systemone.Noul:
		w = max(w, len("0.00"))
	case systemone.Score:
		w = max(w, len(levels(float64(len(q.Levels)), len(q.Levels))))
	case systemone.Choice:
		for _, o := range q.Options {
			w = max(w, cells(o.Name)+len(" 0.00"))
		}
	}
	return min(w, answerWidth)
}

// cell is the answer to a question in a few characters.
func cell(q systemone.Question, answers systemone.Answers) string {
	for _, a := range answers {
		if a.Name != q.Name {
			continue
		}
		switch a.Kind {
		case systemone.Noul:
			return strconv.FormatFloat(a.Noul, 'f', 2, 64)
		case systemone.Score:
			return levels(a.Score, len(q.Levels))
		case systemone.Choice:
			for _, p := range a.Probabilities {
				if p.Label == a.Choice {
					return strconv.FormatFloat(p.P, 'f', 2, 64) + " " + a.Choice
				}
			}
			return a.Choice
		}
	}
	return ""
}

// levels is a score and the highest one that there is.
func levels(score float64, n int) string {
	return strconv.FormatFloat(score, 'f', 1, 64) + "/" + strconv.Itoa(n-1)
}
