package guardrails

import (
	"cmp"
	"slices"
)

// find fills hits with what the rules that act in place find in the text.
func (z *scan) find(place where) error {
	z.hits, z.entities.text = z.hits[:0], nil
	b := z.text.folded
	if len(b) == 0 {
		return nil
	}
	if z.uses[kindPhone] || z.uses[kindSSN] || z.uses[kindCard] || z.uses[kindIP] {
		z.starts = digitRuns(z.starts[:0], b)
	}
	for i, r := range z.rules {
		if !r.acts[place].on || z.again && (r.acts[place].action != Redact || !z.builtin(r.kind)) {
			continue
		}
		if r.kind != kindPattern {
			if err := z.meter.work(int64(len(b)) + runSteps); err != nil {
				return err
			}
			z.meter.begin()
		}
		z.spans = z.spans[:0]
		switch r.kind {
		case kindEmail:
			z.spans = emails(z.spans, b, z.meter)
		case kindPhone:
			z.numbers(phone)
		case kindSSN:
			z.numbers(ending(socialSecurity))
		case kindCard:
			z.numbers(ending(creditCard))
		case kindIP:
			z.numbers(ending(ipv4))
			z.meter.begin()
			z.spans = ipv6s(z.spans, b, z.meter)
		case kindPerson, kindAddress:
			if err := z.recognize(r.kind); err != nil {
				return err
			}
		case kindInjection:
			z.spans = z.injection.find(z.spans, b, z.machine)
			z.note(z.spans)
		case kindPattern:
			if err := z.match(i, r.pattern, place); err != nil {
				return err
			}
			continue
		default:
		}
		if z.meter.err != nil {
			return z.meter.err
		}
		for _, s := range z.spans {
			z.hit(i, place, z.text.inDecoded(snap(b, s)))
		}
	}
	return nil
}

// builtin reports whether what finds a kind is part of this package, so that
// asking again costs little.
func (z *scan) builtin(k kind) bool {
	_, heuristic := z.cfg.Recognizer.(Heuristic)
	return k != kindPattern && (heuristic || k != kindPerson && k != kindAddress)
}

func (z *scan) hit(rule int, place where, s span) {
	if s.start < s.end {
		z.counts[rule][place]++
		if z.rules[rule].acts[place].action == Redact {
			z.hits = append(z.hits, hit{s, rule})
		}
	}
}

// match looks for a pattern in the text as it was meant, and in its folded form
// if that differs.
func (z *scan) match(rule int, p *Pattern, place where) (err error) {
	cost := int64(matchSteps)
	if z.rules[rule].acts[place].action == Redact {
		cost *= int64(len(z.rules[rule].label) + 8)
	}
	if z.spans, err = p.find(z.spans[:0], z.text.decoded, z.machine, cost); err != nil {
		return err
	}
	if len(z.text.folds) > 0 {
		had := len(z.spans)
		if z.spans, err = p.find(z.spans, z.text.folded, z.machine, cost); err != nil {
			return err
		}
		for i, s := range z.spans[had:] {
			z.spans[had+i] = z.text.inDecoded(s)
		}
		slices.SortFunc(z.spans, bySpan)
		z.spans = slices.Compact(z.spans)
	}
	for _, s := range z.spans {
		z.hit(rule, place, s)
	}
	return nil
}

func bySpan(a, b span) int {
	return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
}

// numbers asks a finder at each run of digits, but not inside what it found.
func (z *scan) numbers(find func(b []byte, i int) span) {
	for _, i := range z.starts {
		if n := len(z.spans); n > 0 && i < z.spans[n-1].end {
			continue
		}
		if z.meter.ended(i) {
			return
		}
		if s := find(z.text.folded, i); s.end > 0 {
			z.spans = append(z.spans, s)
		}
	}
}

func ending(find func(b []byte, i int) int) func(b []byte, i int) span {
	return func(b []byte, i int) span { return span{i, find(b, i)} }
}

// redactions returns what is to be replaced, in order and without overlaps.
// What overlaps becomes one, under the label of the longest: so nothing that
// was found remains.
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
