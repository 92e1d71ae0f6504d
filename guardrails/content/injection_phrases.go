package content

// phrase is one way to give orders to a model. It occurs only in a text that contains one
// of the first words and, if there are any, one of the second words.
type phrase struct {
	first, second string // separated by spaces; _ matches a space, a line end or a hyphen
	expr          string // for package regexp, on lower-case text; ~ matches a gap between words
	cased         bool   // case-sensitive
}

// phrases returns the phrases, group by group. No phrase depends on text farther than
// phraseBytes from its required words.
func phrases() []phrase {
	const rules = `(?:instruct\w*|prompts?|rules?|guidelines?|directives?|commands?|programming|training|constraints?|directions?|polic(?:y|ies))`
	return []phrase{
		// Overriding instructions.
		{
			first: "ignor disregard forget neglect overrid bypass discard", second: "instruct prompt rule guideline directive command programming training constraint direction polic",
			expr: `\b(?:ignor(?:e|ing)|disregard|forget|neglect|override|bypass|discard)~(?:(?:all|any|every|each|of|the|my|your|these|those|this|that|its|other|and|completely|about)~){0,4}(?:previous|prior|above|preceding|earlier|initial|original|past|existing|foregoing|former|system)~(?:\w+~){0,2}?` + rules + `\b`,
		},
		{
			first: "ignor disregard forget overrid discard", second: "instruct prompt rule guideline directive programming",
			expr: `\b(?:ignore|disregard|forget|override|discard)~(?:(?:all|any|every)~(?:of~)?)?(?:your~|of~your~|(?:the|these|those)~(?:given|hidden|base|core|assigned|current)~)(?:\w+~)?` + rules + `\b`,
		},
		{
			first: "ignor disregard forget", second: "instruct prompt directive guideline",
			expr: `\b(?:ignore|disregard|forget)~(?:all|any|every)~(?:of~)?(?:the~|these~|those~)?(?:instructions?|prompts?|directives?|guidelines?)\b`,
		},
		{
			first: "forget disregard ignor", second: "everything all anything",
			expr: `\b(?:forget|disregard|ignore)~(?:everything|all|anything)~(?:that~|which~)?(?:you~(?:were|have|ve|are|know|learned)|above|before|prior|previously|so~far)\b`,
		},
		{
			first: "instruct prompt rule guideline directive programming", second: "not don stop longer",
			expr: `\b(?:do~not|don~t|stop|no~longer)~(?:follow\w*|obey\w*|listen\w*~to|comply\w*~with|adher\w*~to)~(?:any~|all~|the~|of~)*(?:your|previous|prior|above|system|original)~(?:\w+~)?` + rules + `\b`,
		},
		{
			first: "new_instruct new_directive new_prompt new_system updated_instruct updated_directive updated_prompt updated_system revised_instruct revised_system real_instruct real_system actual_instruct actual_system",
			expr:  `\b(?:new|updated|revised|real|actual)~(?:system~)?(?:instructions?|directives?|prompt)\s*:`,
		},
		{
			first: "from_now_on from_this_point henceforth", second: "you act ignor pretend",
			expr: `\b(?:from~now~on|henceforth|from~this~point~(?:on|forward))~(?:you~are~(?:now~)?(?:an?|my|no~longer|free|called|named)|you~(?:must|will|shall)~(?:only~|always~)?(?:obey|act|respond|reply|answer|output|ignore|pretend|behave|comply)|act~as|ignore|pretend)\b`,
		},
		// Developer mode.
		{
			first: "mode", second: "developer debug god admin root jailbreak unrestricted unfiltered sudo dan",
			expr: `\b(?:you~are~(?:now~)?in|(?:enter|engage|switch~(?:in)?to|activate|respond~in|act~in|simulate|go~into)(?:~\w+)?)~(?:developer|god|jailbreak|unrestricted|unfiltered|sudo|dan)~mode\b`,
		},
		{
			first: "mode", second: "developer debug god admin root maintenance",
			expr: `\byou~are~(?:now~)?(?:(?:running|operating)~)?in~(?:\w+~)?(?:developer|debug|god|admin|root|maintenance)~mode\b|\b(?:gpt|chatgpt|model|assistant|ai)~with~(?:developer|debug|god)~mode\b`,
		},
		// System override.
		{
			first: "system", second: "override overwrite breach",
			expr: `\bsystem~(?:override|overwrite|breach)(?:~(?:initiated|engaged|activated|authorized|enabled|code|protocol|accepted)\b|\s*[:\]])`,
		},
		{
			first: "override bypass disable overwrite reset replace", second: "system",
			expr: `\b(?:override|bypass|disable|overwrite|reset|replace)~(?:(?:the|your|all|this|any)~){0,2}system~(?:prompt|instructions?|message|restrictions?|rules)\b`,
		},
		{
			first: "admin root developer sudo", second: "override access command ignor reveal disable bypass",
			expr: `\b(?:admin|administrator|root|developer)~(?:override|access~granted|command)\s*:|\bsudo~(?:ignore|reveal|override|disable|bypass)\b`,
		},
		// Extracting the prompt.
		{
			first: "reveal show print display output repeat tell give expose leak dump share disclose return recite write summar copy paste translate send", second: "system_prompt system_message system_instruct initial_ hidden_ secret_ original_ internal_ pre_prompt your_prompt your_instruct your_directive your_config your_own your_exact",
			expr: `\b(?:reveal|show|print|display|output|repeat|tell|give|expose|leak|dump|share|disclose|return|recite|write~out|summari[sz]e|copy|paste|translate|send)~(?:(?:me|us|to|out|back|the|your|all|of|full|entire|complete|exact|verbatim|contents?|text|everything|in)~){0,7}(?:system~(?:prompt|message|instructions?)|(?:initial|hidden|secret|original|internal|pre)~(?:prompt|instructions?|directives?)|your~(?:(?:hidden|secret|initial|original|internal|own|exact)~)?(?:prompt|instructions|directives|configuration))\b`,
		},
		{
			first: "what", second: "system_prompt system_message system_instruct initial_prompt initial_instruct hidden_prompt hidden_instruct original_prompt original_instruct secret_prompt secret_instruct",
			expr: `\bwhat~(?:is|are|was|were|s)~(?:(?:the|your|exact|full)~){0,3}(?:system~(?:prompt|instructions?|message)|(?:initial|hidden|original|secret)~(?:prompt|instructions))\b`,
		},
		{
			first: "repeat print output copy", second: "above",
			expr: `\b(?:repeat|print|output|copy)~(?:everything|(?:all~)?(?:of~)?(?:the~)?(?:words?|text|content|sentences|instructions))~(?:\w+~){0,2}above\b`,
		},
		// Assigning another role.
		{
			first: "you_are you_re you're pretend act_as roleplay role_play behave imagine simulat", second: "unrestricted unfiltered uncensored evil jailbroken unethical amoral malicious rogue rules restrictions limits limitations filters guidelines ethics morals censorship bound",
			expr: `\b(?:you~are(?:~now)?|you~re~now|act~as|pretend~(?:to~be|that~you~are|you~are|you~re|you~have)|role~?play~as|behave~(?:as|like)|imagine~you~(?:are|have)|simulate)~(?:\w+~){0,6}?(?:unrestricted|unfiltered|uncensored|evil|jailbroken|unethical|amoral|malicious|rogue|(?:no|without|without~any|free~from|free~of)~(?:ethical~|moral~|safety~|content~)?(?:rules|restrictions|limits|limitations|filters|guidelines|ethics|morals|censorship)|not~bound)\b`,
		},
		{
			first: "are_no_longer are_now",
			expr:  `\byou~are~no~longer~(?:an?~)?(?:(?:ai|language)~(?:assistant|model)|assistant|chatbot|chatgpt|gpt|claude|llm|bound|restricted)\b|\byou~are~now~(?:an?~|my~|the~)?(?:\w+~)?(?:ai|bot|chatbot|llm|language~model|terminal|shell|interpreter|hacker)\b`,
		},
		// Do anything now.
		{first: "anything", expr: `\bdo~anything~now\b`},
		{first: "dan", cased: true, expr: `\b(?:[Yy]ou are|[Aa]ct as|[Rr]espond as|[Ss]tay as|[Pp]retend to be|[Bb]ecome|[Aa]nswer as)(?: now| going to be)? DAN\b`},
		{first: "jailbreak jailbroken", expr: `\bjailbr(?:eak|oken)~(?:mode|prompt|yourself|(?:the~|this~|your~)?(?:ai|model|assistant|llm|chatgpt|gpt|claude))\b|\[jailbreak\]`},
		// Bypassing safety rules.
		{
			first: "bypass disable turn_off remove ignor circumvent deactivate overrid evade switch_off", second: "safety content ethic moral moderation guardrail safeguard alignment censorship",
			expr: `\b(?:bypass|disable|turn~off|remove|ignore|circumvent|deactivate|override|evade|switch~off)~(?:(?:all|any|the|your|its|of|every|these|those|built~in|internal)~){0,4}(?:(?:safety|ethical|ethics|moral|moderation|content(?:~safety|~moderation)?)~(?:and~\w+~)?(?:filters|guidelines?|guardrails?|measures|protocols?|restrictions?|polic(?:y|ies)|limits|limitations|mechanisms?|rules|training)|guardrails|safeguards|alignment|censorship)\b`,
		},
		{
			first: "without with_no", second: "ethical moral safety content",
			expr: `\b(?:respond|answer|reply|act|write|speak)\b[^.!?]{0,40}\b(?:without|with~no|no)~(?:any~)?(?:ethical|moral|safety|content)~(?:guidelines|restrictions|constraints|filters|limits|considerations|warnings|boundaries|limitations)\b`,
		},
		{first: "unrestricted unfiltered uncensored", expr: `\b(?:unrestricted|unfiltered|uncensored)~(?:ai|mode|assistant|model|chatbot|llm)\b`},
		{
			first: "respond answer reply act", second: "without",
			expr: `\b(?:respond|answer|reply|act)~(?:\w+~){0,3}?without~(?:any~)?(?:restrictions?|filters?|filtering|censorship|limitations?|guardrails)\b`,
		},
		// Tags and roles that a model may take for those of its operator.
		{
			first: "<system </system <assistant </assistant <instruction </instruction <developer <admin <prompt </prompt",
			expr:  `<\s*/?\s*(?:system|assistant|instructions?|developer|admin|prompt)(?:[_ -](?:prompt|message|instructions?|override|note))?\s*>`,
		},
		{
			first: "[system [assistant [admin [developer",
			expr:  `\[\s*(?:system|assistant|admin|developer)(?:\s+|_)(?:message|prompt|instructions?|override|note)\s*\]|\[\s*(?:system|admin|developer)\s*\]\s*:?\s*(?:you~(?:must|are|will)|ignore|disregard|forget|new~instructions|override|from~now)`,
		},
		{
			first: "system: assistant: developer: admin: prompt: message:",
			expr:  `(?:^|[\n"'])\s*(?:system|assistant|developer|admin)(?:~(?:message|prompt|note))?\s*:\s*(?:you~(?:are|must|will)|ignore|disregard|forget|from~now|new~instructions|override|do~not)\b`,
		},
		{first: `"role" 'role'`, expr: `["']role["']\s*:\s*["'](?:system|developer)["']`},
		{first: "###", second: "instruction: instructions: system: prompt:", expr: `###\s*(?:new~|system~)?(?:instructions?|system|prompt)\s*:`},
		// Control tokens.
		{first: "<|", expr: `<\|\s?[a-z][a-z0-9_▁ ]{1,30}\|>`},
		{first: "[inst] [/inst] <<sys>> <</sys>>", expr: `\[/?inst\]|<</?sys>>`},
		{first: "<start_of_turn> <end_of_turn>", expr: `<(?:start|end)_of_turn>`},
	}
}
