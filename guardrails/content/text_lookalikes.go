package content

import "unicode/utf8"

// lookalikes sets d to the folded source with ASCII for lookalike letters of other
// alphabets. It reports whether there were any.
func (d *derived) lookalikes(source []byte, m *meter) bool {
	d.reset(0)
	m.begin()
	copied := 0
	for i := 0; i < len(source) && !m.ended(i); {
		if source[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(source[i:])
		if to := lookalike(r); to != 0 {
			d.copy(source, copied, i)
			d.put([]byte{to}, i, i+size)
			copied = i + size
		}
		i += size
	}
	if copied == 0 {
		return false
	}
	d.copy(source, copied, len(source))
	return true
}

// lookalike returns the ASCII letter that looks like r, or 0 if there is none.
func lookalike(r rune) byte {
	rows := [...]struct {
		from  rune
		ascii string // lookalikes of from and its successors; a space means none
	}{
		{0x391, "AB  EZHOIK MN O P  TY X"},   // Greek
		{0x3b1, "abyde n ik uv onpsotu x w"}, // small
		{0x405, "SIIJ"},                      // Cyrillic
		{0x410, "A B  E    K MHO PCTY X"},    // А to Х
		{0x430, "a br e  u k mhonpcty x  w   b"},
		{0x455, "siij"},
		{0x1f1e6, "abcdefghijklmnopqrstuvwxyz"}, // of flags
	}
	for _, row := range rows {
		if i := int(r - row.from); 0 <= i && i < len(row.ascii) {
			if c := row.ascii[i]; c != ' ' {
				return c
			}
			return 0
		}
	}
	return lookalikeOther(r)
}

func lookalikeOther(r rune) byte {
	switch r {
	case 'ı', 'ɩ', 'ɪ', 'ι', 'Ӏ', 'ӏ', 'і':
		return 'i'
	case 'ɑ', 'ᴀ', 'ɐ':
		return 'a'
	case 'ʙ', 'ƀ', 'ɓ', 'Ь', 'ь':
		return 'b'
	case 'ᴄ', 'ϲ', 'ƈ', 'ⅽ':
		return 'c'
	case 'đ', 'ԁ', 'ɗ', 'ɖ', 'ᴅ', 'ð':
		return 'd'
	case 'ᴇ', 'ɛ', 'ə', 'ǝ', 'є', 'ҽ', 'ℯ':
		return 'e'
	case 'ƒ', 'ꜰ', 'ſ':
		return 'f'
	case 'ɡ', 'ɢ', 'ց', 'ɠ', 'ǥ':
		return 'g'
	case 'ħ', 'һ', 'ʜ', 'հ', 'ɦ':
		return 'h'
	case 'ʝ', 'ᴊ', 'յ':
		return 'j'
	case 'ᴋ', 'ƙ', 'қ', 'ĸ':
		return 'k'
	case 'ł', 'ʟ', 'ɫ', 'ɭ', 'լ':
		return 'l'
	case 'ᴍ', 'ɱ':
		return 'm'
	case 'ɴ', 'ո', 'ɲ', 'ŋ', 'ռ':
		return 'n'
	case 'ø', 'ᴏ', 'օ', 'ɵ', 'σ', 'ѳ', 'ⲟ', 'о':
		return 'o'
	case 'ᴘ', 'ρ', 'ƥ', 'р':
		return 'p'
	case 'ԛ', 'զ', 'ǫ':
		return 'q'
	case 'ʀ', 'ɾ', 'ɹ', 'ɼ', 'ᴦ':
		return 'r'
	case 'ꜱ', 'ʂ', 'ѕ', 'ƽ':
		return 's'
	case 'ŧ', 'ᴛ', 'ƭ', 'ʇ', 'τ':
		return 't'
	case 'ᴜ', 'ս', 'ʋ', 'υ', 'ц', 'џ':
		return 'u'
	case 'ᴠ', 'ѵ', 'ν', 'ѷ':
		return 'v'
	case 'ᴡ', 'ԝ', 'ω', 'ɯ', 'ա', 'ѡ':
		return 'w'
	case 'ʏ', 'ү', 'ɣ', 'γ', 'ყ':
		return 'y'
	case 'ᴢ', 'ʐ', 'ƶ', 'ȥ':
		return 'z'
	case 'Ꭰ':
		return 'D'
	case 'Ꭱ', 'Ꭼ':
		return 'E'
	case 'Ꭺ':
		return 'A'
	case 'Ꮃ':
		return 'W'
	case 'Ꮇ':
		return 'M'
	case 'Ꮋ':
		return 'H'
	case 'Ꮐ':
		return 'G'
	case 'Ꮪ':
		return 'S'
	case 'Ꮲ':
		return 'P'
	case 'Ꭲ':
		return 'I'
	case 'Ꮞ':
		return 'U'
	case 'Ꮢ', 'Ꮁ':
		return 'R'
	case 'Ꮩ':
		return 'V'
	case 'Ꮯ':
		return 'C'
	case 'Ꮮ':
		return 'L'
	case 'Ꭵ':
		return 'i'
	case 'Ꮓ':
		return 'Z'
	case 'Ѕ':
		return 'S'
	case 'Ԍ':
		return 'G'
	case 'Ԛ':
		return 'Q'
	case 'Ԝ':
		return 'W'
	case 'Ѵ':
		return 'V'
	case 'Ү', 'Ұ':
		return 'Y'
	}
	return 0
}
