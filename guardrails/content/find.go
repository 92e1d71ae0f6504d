package content

import (
	"cmp"
	"slices"
)

// find sets hits to what the rules that act in place find in the text.
func (z *scan) find(place where) error {
	z.hits, z.entities.text = z.hits[:0], nil
	if len(z.text.decoded) == 0 {
		return nil
	}
	if !isOneWord(z.text.decoded) {
		for i := range z.text.forms {
			if err := z.findIn(&z.text.forms[i], place); err != nil {
				return err
			}
		}
	}
	for i, r := range z.rules {
		if !z.acts(r, place) {
			continue
		}
		var err error
		switch r.kind {
		case kindPerson, kindAddress:
			err = z.recognize(i, place)
		case kindPattern:
			err = z.match(i, r.pattern, place)
		default:
		}
		if err != nil {
			return err
		}
	}
	z.count(place)
	return nil
}

// acts reports whether a rule must scan the current text.
func (z *scan) acts(r rule, place where) bool {
	act := r.acts[place]
	return act.on && (!z.again && !z.second || act.action == Redact && z.builtin(r.kind))
}

// findIn adds what the builtins find in one form of the text.
func (z *scan) findIn(f *form, place where) error {
	b := f.b
	if !f.orders && (z.uses[kindPhone] || z.uses[kindSSN] || z.uses[kindCard] || z.uses[kindIP]) {
		z.starts = digitRuns(z.starts[:0], b)
	}
	for i, r := range z.rules {
		if !z.acts(r, place) || !z.reads(r.kind, f) {
			continue
		}
		if r.kind == kindPattern || r.kind == kindPerson || r.kind == kindAddress {
			continue
		}
		if err := z.begin(b); err != nil {
			return err
		}
		z.spans = z.spans[:0]
		switch r.kind {
		case kindEmail:
			z.spans = emails(z.spans, b, z.meter)
		case kindPhone:
			z.numbers(b, z.phone)
		case kindSSN:
			z.numbers(b, z.socialSecurity)
		case kindCard:
			z.numbers(b, z.creditCard)
		case kindIP:
			z.numbers(b, z.ipv4)
			z.meter.begin()
			z.spans = ipv6s(z.spans, b, z.meter)
		case kindInjection:
			z.meter.chargeBuiltin(len(b) * orderEffort)
			z.spans = z.engine.injection.find(z.spans, b, z.machine)
		default:
		}
		if z.meter.err != nil {
			return z.meter.err
		}
		z.hit(i, place, f, z.spans)
	}
	return nil
}

// begin charges a builtin filter for reading a text.
func (z *scan) begin(b []byte) error {
	z.meter.chargeBuiltin(len(b) + runEffort)
	if err := z.meter.work(int64(len(b)) + runSteps); err != nil {
		return err
	}
	z.meter.begin()
	return nil
}

// reads reports whether a builtin scans a form of the current text.
func (z *scan) reads(k kind, f *form) bool {
	switch k {
	case kindPhone, kindSSN, kindCard:
		return !f.orders
	case kindInjection:
		return !z.around.number && !f.covered
	default:
		return !z.around.number && !f.orders
	}
}

// builtin reports whether the code that finds a kind is in this package, so that a second
// scan is cheap.
func (z *scan) builtin(k kind) bool {
	_, heuristic := z.engine.cfg.Recognizer.(Heuristic)
	return k != kindPattern && (heuristic || k != kindPerson && k != kindAddress)
}

// hit adds the findings of a rule in a form of the text. A finding that is neither
// replaced nor shown and cannot be found twice is only counted.
func (z *scan) hit(rule int, place where, f *form, spans []span) {
	r := &z.rules[rule]
	z.meter.chargeBuiltin(len(spans) * findEffort)
	alone := len(z.text.forms) == 1 && r.acts[place].action != Redact && r.kind != kindInjection
	for _, s := range spans {
		switch {
		case s.start >= s.end:
		case alone:
			z.counts[rule][place]++
		default:
			z.hits = append(z.hits, hit{z.text.inDecoded(f, s), rule})
		}
	}
}

// count counts the hits. What one rule found in several forms of the text counts once.
func (z *scan) count(place where) {
	if len(z.text.forms) > 1 && len(z.hits) > 1 {
		slices.SortFunc(z.hits, func(a, b hit) int { return cmp.Or(cmp.Compare(a.rule, b.rule), bySpan(a.span, b.span)) })
		merged := z.hits[:1]
		for _, h := range z.hits[1:] {
			if last := &merged[len(merged)-1]; h.rule == last.rule && h.start < last.end {
				last.end = max(last.end, h.end)
			} else {
				merged = append(merged, h)
			}
		}
		z.hits = merged
	}
	for _, h := range z.hits {
		z.counts[h.rule][place]++
		if z.rules[h.rule].kind == kindInjection {
			z.note(h.span)
		}
	}
}

// match searches for a pattern in the decoded text, and in its folded form if that
// differs.
func (z *scan) match(rule int, p *pattern, place where) (err error) {
	cost := int64(matchSteps)
	if z.rules[rule].acts[place].action == Redact {
		cost *= int64(len(z.rules[rule].label) + 8)
	}
	meant := form{b: z.text.decoded}
	if z.spans, err = p.find(z.spans[:0], meant.b, z.machine, cost); err != nil {
		return err
	}
	z.hit(rule, place, &meant, z.spans)
	if folded := &z.text.forms[0]; len(folded.from) > 0 {
		if z.spans, err = p.find(z.spans[:0], folded.b, z.machine, cost); err != nil {
			return err
		}
		z.hit(rule, place, folded, z.spans)
	}
	return nil
}

func bySpan(a, b span) int {
	return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
}

// numbers calls find at each run of digits, except inside numbers that it found before.
func (z *scan) numbers(b []byte, find func(b []byte, i int) span) {
	for _, i := range z.starts {
		if n := len(z.spans); n > 0 && i < z.spans[n-1].end {
			continue
		}
		if z.meter.ended(i) {
			return
		}
		z.meter.chargeBuiltin(digitEffort)
		if s := find(b, i); s.end > 0 {
			z.spans = append(z.spans, s)
		}
	}
}

// redactions returns the hits to replace, in order and without overlaps. Overlapping hits
// are merged under the label of the longest, so that nothing that was found remains.
func (z *scan) redactions(place where) []hit {
	list := slices.DeleteFunc(z.hits, func(h hit) bool { return z.rules[h.rule].acts[place].action != Redact })
	if len(list) < 2 {
		return list
	}
	slices.SortStableFunc(list, func(a, b hit) int { return bySpan(a.span, b.span) })
	merged := list[:1]
	longest := list[0].end - list[0].start
	for _, h := range list[1:] {
		last := &merged[len(merged)-1]
		if h.start >= last.end {
			merged = append(merged, h)
			longest = h.end - h.start
			continue
		}
		if n := h.end - h.start; n > longest {
			longest, last.rule = n, h.rule
		}
		last.end = max(last.end, h.end)
	}
	return merged
}
