package content

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/signalbox/signalbox/systemone"
)

// unique makes the names in one object, request or question unique. It maps each name in
// use to the number of requests for it.
type unique map[string]int

func (u unique) keep(name string) { u[name] = max(u[name], 1) }

// add returns a name that is not in use: name itself, or name with a number.
func (u unique) add(name string) string {
	for {
		n := u[name] + 1
		u[name] = n
		if n == 1 {
			return name
		}
		if numbered := numbered(name, n); u[numbered] == 0 {
			u[numbered] = 1
			return numbered
		}
	}
}

// numbered puts a number into the first label in brackets, as in [EMAIL_2], or at the end
// if the name has no label.
func numbered(name string, n int) string {
	i := len(name)
	if open := strings.IndexByte(name, '['); open >= 0 {
		if closing := strings.IndexByte(name[open:], ']'); closing >= 0 {
			i = open + closing
		}
	}
	return name[:i] + "_" + strconv.Itoa(n) + name[i:]
}

// name scans the name of a question or an option.
func (z *scan) name(name string, place where) (replaced string, changed bool, err error) {
	if len(name) > maxText {
		return "", false, unreadable("a name is longer than 256 MiB")
	}
	if err := z.meter.work(int64(len(name))); err != nil {
		return "", false, err
	}
	z.around.name, z.around.number = true, false
	z.walk.frames = z.walk.frames[:0]
	z.text.set([]byte(name), false)
	if err := z.find(place); err != nil {
		return "", false, err
	}
	out, err := z.redact(place, false)
	return string(out), out != nil, err
}

// renameQuestions redacts the names of questions. It returns list itself if no name
// changes, otherwise a copy.
func (z *scan) renameQuestions(list []systemone.Question) ([]systemone.Question, bool, error) {
	defer func() { z.around.question = nil }()
	names, err := z.rename(len(list), func(i int) string {
		z.around.question, z.around.asked = &list[i], nil
		return list[i].Name
	})
	if names == nil || err != nil {
		return list, false, err
	}
	out := append([]systemone.Question(nil), list...)
	for i := range out {
		out[i].Name = names[i]
	}
	return out, true, nil
}

// renameOptions redacts the names of the options of a question, as renameQuestions does.
func (z *scan) renameOptions(list []systemone.Option) ([]systemone.Option, bool, error) {
	names, err := z.rename(len(list), func(i int) string { return list[i].Name })
	if names == nil || err != nil {
		return list, false, err
	}
	out := append([]systemone.Option(nil), list...)
	for i := range out {
		out[i].Name = names[i]
	}
	return out, true, nil
}

// rename scans n names that must differ and returns the new names, or nil if none
// changes.
func (z *scan) rename(n int, name func(i int) string) ([]string, error) {
	var names []string
	var changed []bool
	for i := range n {
		was := name(i)
		replaced, redacted, err := z.name(was, inQuestions)
		if err != nil {
			return nil, err
		}
		if redacted && names == nil {
			names, changed = make([]string, n), make([]bool, n)
		}
		if redacted {
			names[i], changed[i] = replaced, true
		}
	}
	if names == nil {
		return nil, nil
	}
	taken := make(unique, n)
	for i := range n {
		if !changed[i] {
			names[i] = name(i)
			taken.keep(names[i])
		}
	}
	for i := range n {
		if changed[i] {
			names[i] = taken.add(short(names[i]))
		}
	}
	return names, nil
}

// short truncates a name that labels made too long. A question may have 256 characters;
// short leaves room for a number.
func short(name string) string {
	const longest = 244
	if utf8.RuneCountInString(name) <= longest {
		return name
	}
	return string([]rune(name)[:longest])
}
