// Package similarity is a decision model that is embedded in the program: it needs no
// key, no network and no download. It compares the meaning of the state with the
// descriptions of the answers. Its catalog id is [Model].
//
// The one thing to know first: it judges similarity of meaning, not logic. It is good at
// "what is this about" and "which of these does it want". It fails at negation, irony,
// offence, arithmetic, and at a tone that no phrase describes: "I do NOT want a refund"
// is, to the model, about a refund. It knows English only. Texts in other languages fall
// apart into letters, and their answers mean nothing.
//
// # How a question is read
//
// Each answer is described by phrases. For a choice they come from the guidance of the
// option, for a noul from its true and false criteria, for a score from its levels. A
// string is one phrase, an array of strings several phrases, and an object contributes
// its string values. Use examples as phrases only where the answers are topics, see
// below. An option without guidance is described by its name, in which "_" and "-" count
// as spaces.
//
// The instructions of a question with phrases are not read, so put everything that
// matters into the phrases. Several short phrases work better than a long one. A yes
// without a no to compare it with is worth little.
//
// The evidence for an answer has four parts: the best and the mean cosine of its phrases
// with the state by a sentence encoder, the best cosine by word vectors, and the best
// overlap of words. [Weights] add them up, and a softmax with a temperature converts the
// sums to probabilities.
//
// A noul without criteria is answered from its instructions, and only if they ask what
// the state is about ("Is this about X?", "Does the customer want X?", "Does it mention
// X?", without a negation). A logistic curve converts the similarity of the state and X
// to a probability. The curve was calibrated on sentences of which half were about X; it
// is too certain for longer or unusual texts. A noul with only one side of its criteria
// is answered by the same curve. Any other noul without criteria gets one half.
//
// A structured state contributes its string values. A state longer than the encoder's
// window is split into pieces at the ends of sentences. Each piece gets its own
// probabilities, and the answer is their mean, weighted by tokens. All answers are
// equally probable if the state says nothing (empty, or no known character) or if an
// answer has no phrases.
//
// # How good it is
//
// Zero-shot accuracy, and in brackets the Brier score summed over classes.
// The weights were fitted on CLINC and SNIPS sentences, so those rows are
// in-domain. All other rows are out of domain.
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
// .09 on all rows that are out of domain. The wording of phrases changes the
// accuracy of a task by several points (offence by 14). A noul about a property
// with no phrases ("Is this spam?") was right in 49 to 52 of 100 cases, which is
// why it gets one half. A score by two anchors has a rank correlation of .51
// with tweet sentiment of three levels. The top probability separates "none of
// these" with an AUC of .80.
//
// Labelled examples as further phrases help where the answers are topics or
// intents, because the examples share the topic: three per answer raise banking77
// (all 77) from .51 to .68, ten raise it to .76. They harm where the answers are a
// tone, a judgement or a quality, because the model then compares the state with
// the topics of the examples. On UCI reviews ten per answer lower the phrases above
// from .80 to .65 or .77, depending on the draw, and thirty to .71. Three per answer
// lower four emotions from .58 to .42. Describe a tone in several short phrases
// instead, and try both on your own labelled items before you choose.
//
// Tests hold the model to these figures on data that ships with it: CLINC
// validation (5 intents, the fitting data) .92, topics by question .90, UCI
// reviews .79, and 600 mails of SpamAssassin .82 with other phrases than above.
//
// # As the first of two models
//
// [Unsure] is a condition for a catalog model made of stages, or for an entry of a
// request: it asks a stronger model where this one is unsure. Measured on the data
// that ships with the package, all of it, by a test that runs in CI:
//
//	task (decisions)                         right alone   asked again   of the rest right
//	CLINC, 5 random intents (3,000)          .92           .16           .983
//	noul: topics by question (3,000)         .90           .21           .962
//	noul: review positive, phrases (2,700)   .79           .50           .907
//
// A lower bound of confidence asks less and leaves more mistakes: .4 asks .09 of the
// intents again, with .963 of the rest right; .8 asks .26, with .990. Bounds of a
// score were not measured, for want of labelled scores.
//
// # What it costs
//
// On two cores of an AMD EPYC with AVX2, a state of 40 words with eleven
// phrases takes 10 ms with the phrases cached and 26 ms without; loading takes
// 10 ms. A sentence of 9 tokens is encoded in 2 ms, the longest that fits in one
// vector (128 tokens, about 90 words) in 34 ms. Without AVX2 and FMA, or with
// the build tag purego, all this takes about eight times as long. The model
// adds 9.4 MB to a binary and is read in place. After its first requests a program
// has 20 MB resident, of which 6 MB are private memory. Each text takes 2 MB while
// it is encoded, and a cached phrase 3 KB.
//
// [Limits] bound the cost of one request, [Config.Workers] and [Config.Queue] that
// of all requests together. A text beyond the byte limits is never tokenised;
// refusing it costs no more than decoding its JSON.
//
// NOTICE.md names the sources and the licences of the model's data.
package similarity
