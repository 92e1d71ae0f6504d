// Package similarity is a decision model that is embedded in the program: no
// key, no network, no download. It answers by how alike the meanings of the
// state and of the answers' descriptions are. Its catalog id is [Model].
//
// The one thing to know first: it judges likeness of meaning, not logic. It is
// good at "what is this about" and "which of these does it want"; negation,
// irony, tone without phrases that describe it, offence and arithmetic do not
// work: "I do NOT want a refund" is to it all about a refund. It knows English
// only; other languages fall apart into letters and get answers that mean
// nothing.
//
// # How a question is read
//
// Every answer is described by phrases. For a choice they are the option's
// guidance, for a noul its true and false criteria, for a score its levels. A
// string is one phrase, an array of strings several phrases of the same answer
// (examples only where the answers are topics, see below), and an object
// contributes its string values. An option without guidance is described by its
// name, in which "_" and "-" count as spaces. The instructions of a question with
// phrases are not read: put what matters into the phrases. Several short phrases serve better than a long one, and a yes
// without a no to compare it with is worth little.
//
// Evidence for an answer is the best and the mean cosine of its phrases with
// the state by a sentence encoder, the best cosine by word vectors, and the
// best overlap of words, added up with the fitted [Weights], divided by their
// temperature and turned into probabilities.
//
// A noul without criteria is answered from its instructions, and only where
// they ask what the state is about ("Is this about X?", "Does the customer
// want X?", "Does it mention X?", without a negation): a logistic curve turns
// the likeness of the state and X into a probability. The curve was calibrated
// on sentences of which half were about X, and is too sure of itself where
// texts are longer or stranger than those. A noul with only one side of its
// criteria is answered by the same curve. Any other question gets one half.
//
// A structured state contributes its string values. A state longer than the
// encoder's window is split at the ends of sentences into pieces; each gets
// probabilities of its own, and the answer is their mean, weighted by tokens.
// A state that says nothing (empty, or no character known) and a question with
// an answer that has no phrases get equal probabilities: unsure, never falsely
// certain.
//
// # How good it is
//
// Zero-shot accuracy, and in brackets the Brier score summed over classes.
// The weights were fitted on CLINC and SNIPS sentences, so those rows are near
// home; all others are unlike the fitting data.
//
//	task (decisions)                                chance or majority   accuracy
//	CLINC, 5 random intents (4,500)                 .200                 .904 (.138)
//	banking77, 5 random intents (3,080)             .200                 .838 (.232)
//	banking77, all 77 by name (3,080)               .013                 .506 (.634)
//	CLINC, 10 areas by bare name (4,500)            .100                 .412 (.740)
//	CLINC, 10 areas described (4,500)               .100                 .789 (.314)
//	SNIPS, 7 bare names (700)                       .177                 .756 (.338)
//	SNIPS, 7 sentences (700)                        .177                 .873 (.187)
//	emotion of tweets, 4, phrases (1,421)           .393                 .599 (.521)
//	sentiment of tweets, 3, phrases (2,000)         .480                 .530 (.610), poor
//	noul: review positive, UCI, phrases (2,700)     .507                 .784 (.305)
//	noul: review positive, SST-2, phrases (1,821)   .501                 .715 (.373)
//	noul: spam mail, phrases (1,200)                .500                 .762 (.334)
//	noul: offensive tweet, phrases (860)            .721                 .621 (.457), worse than always no
//
// The expected calibration error after division by the temperature is at most
// .09 on all of these that are unlike the fitting data. The wording of phrases
// moves a task by several points (offence by 14). A noul about a property by
// its question alone ("Is this spam?") was right in 49 to 52 of 100 cases,
// which is why it gets one half. A score by two anchors has a rank correlation
// of .51 with tweet sentiment of three levels. A "none of these" can be told
// apart with an AUC of .80 by the top probability.
//
// Labelled examples, added to an answer's phrases, help where the answers are
// topics or intents, which examples share: three per answer take banking77 (all
// 77) from .51 to .68, and ten to .76. They harm where the answers are a tone, a
// judgement or a quality, because the examples are about all sorts of things, and
// the state is then compared with what they are about: on UCI reviews ten per
// answer take the phrases above from .80 to .65 or .77, depending on the draw,
// thirty to .71; three per answer take four emotions from .58 to .42. Describe a
// tone in several short phrases instead, and try both on labelled items of your
// own before you choose.
//
// Tests hold the model to these figures on data that ships with it: CLINC
// validation (5 intents, the fitting data) .92, topics by question .90, UCI
// reviews .79, and 600 mails of SpamAssassin .82 with other phrases than above.
//
// # What it costs
//
// On two cores of an AMD EPYC with AVX2, a state of 40 words with eleven
// phrases takes 10 ms with the phrases cached and 26 ms without; loading takes
// 10 ms. A 9-token sentence is encoded in 2 ms, the longest that fits in one
// vector (128 tokens, about 90 words) in 34 ms. Without AVX2 and FMA, or with
// the build tag purego, all this takes about eight times as long. The model
// adds 9.4 MB to a binary and is read in place: a program that has answered
// its first requests has 20 MB resident, 6 MB of them its own. Each text that
// is worked on takes 2 MB, a cached phrase 3 KB.
//
// The cost of a request is bounded by [Limits], that of all requests together
// by [Config.Workers] and [Config.Queue]. A text beyond the limits of bytes is
// never cut into tokens; to refuse it costs no more than to decode its JSON.
//
// NOTICE.md says where the model's data come from and under which licences.
package similarity
