package transform

import (
	"bytes"
	"maps"

	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform/manifest"
)

// Survey looks for Namespaces and ProxyConfigs in streams that pass by, far faster than parsing them: text is only looked
// at where one of the two words is in it. One goroutine uses it at a time.
type Survey struct {
	// Bootstraps also looks for ConfigMaps that are laid over Envoy's bootstrap.
	Bootstraps bool

	found Surroundings
}

// Found gives what the streams held so far.
func (s *Survey) Found() *Surroundings { return &s.found }

// Stream begins a stream, named file in positions. Its Write is given the stream's bytes in pieces of any size and never
// fails, its Close tells that the stream ended.
func (s *Survey) Stream(file string) *SurveyStream {
	return &SurveyStream{survey: s, file: file, line: 1}
}

// SurveyStream is one stream of a survey.
type SurveyStream struct {
	survey *Survey
	file   string
	// rest is the text since the last line that may separate documents, line the number of its first line.
	rest []byte
	line int
	// hit tells that rest holds one of the words; whole that the stream is no UTF-8 and is looked at in the end.
	hit, whole, begun bool
	// json tells that the stream begins as JSON, whose documents may follow each other without a separator.
	json bool
}

// words are what a document must hold to count, the last only where it is asked for.
func surveyWords() [3][]byte {
	return [3][]byte{[]byte(kindNamespace), []byte(kindProxyConfig), []byte(bootstrapKey)}
}

// bootstrapKey is the data key of a bootstrap override (Istio, files/injection-template.yaml, 1.30).
const bootstrapKey = "custom_bootstrap.json"

// separator is where streams are cut. It may also stand inside of a block scalar; then pieces of one document are looked
// at alone, and those do not hold a kind in their first column.
var separator = []byte("\n---")

// wordTail is how much of a piece a word that goes on in the next may take.
const wordTail = len(bootstrapKey) - 1

// Write takes the next piece of the stream.
func (s *SurveyStream) Write(p []byte) (int, error) {
	n := len(p)
	if n == 0 {
		return 0, nil
	}
	if !s.begun {
		s.begun = true
		s.whole = p[0] == 0xff || p[0] == 0xfe || p[0] == 0
		s.json = p[0] == '{'
	}
	if s.whole {
		s.rest = append(s.rest, p...)
		return n, nil
	}
	hit := s.meets(p)
	cut := bytes.LastIndex(p, separator)
	if s.json {
		cut = max(cut, bytes.LastIndex(p, []byte("\n{")))
	}
	if cut < 0 {
		s.rest, s.hit = append(s.rest, p...), s.hit || hit
		return n, nil
	}
	cut++
	if s.hit || hit {
		s.look(append(s.rest, p[:cut]...))
		s.rest = nil
	} else {
		s.line += bytes.Count(s.rest, newline)
		s.line += bytes.Count(p[:cut], newline)
	}
	s.rest = append(s.rest[:0], p[cut:]...)
	s.hit = hit && s.holds(s.rest)
	return n, nil
}

var newline = []byte{'\n'}

// meets tells whether a piece holds one of the words, or its beginning what the rest began.
func (s *SurveyStream) meets(p []byte) bool {
	if s.holds(p) {
		return true
	}
	tail := s.rest[max(0, len(s.rest)-wordTail):]
	return len(tail) > 0 && s.holds(append(bytes.Clone(tail), p[:min(len(p), wordTail)]...))
}

func (s *SurveyStream) holds(p []byte) bool {
	words := surveyWords()
	n := len(words)
	if !s.survey.Bootstraps {
		n--
	}
	for _, w := range words[:n] {
		if bytes.Contains(p, w) {
			return true
		}
	}
	return false
}

// Close looks at what is left.
func (s *SurveyStream) Close() error {
	switch {
	case s.whole:
		text, _, f := manifest.Decode(s.file, s.rest)
		if f == nil && s.holds(text) {
			s.look(text)
		}
	case s.hit:
		s.look(s.rest)
	}
	s.rest, s.hit = nil, false
	return nil
}

// look cuts text into documents and takes what counts. A document that cannot be read is nobody's Namespace; whether it
// is an error is for the injection to say.
func (s *SurveyStream) look(text []byte) {
	docs, _ := manifest.Split(s.file, text)
	kinds := manifest.KindSet{kindNamespace: nil, kindProxyConfig: []string{groupNetworking}}
	if s.survey.Bootstraps {
		kinds["ConfigMap"] = nil
	}
	for _, d := range docs {
		if !s.holds(d.Raw) {
			continue
		}
		if class, _ := d.Sniff(kinds); class != manifest.Parse {
			continue
		}
		d.Line += s.line - 1
		parsed, fs := d.Parse()
		if parsed == nil || parsed.Root == nil {
			s.unread(fs)
			continue
		}
		s.survey.found.add(parsed)
	}
	s.line += bytes.Count(text, newline)
}

// unread tells of a document that may be a Namespace and cannot be parsed.
func (s *SurveyStream) unread(fs []policy.Finding) {
	for _, f := range fs {
		if f.Severity != policy.Error {
			continue
		}
		s.survey.found.Findings = append(s.survey.found.Findings, policy.Finding{
			Code: "W_NAMESPACE", Severity: policy.Warning, Position: f.Position,
			Message: "this document may be a Namespace or a ProxyConfig and cannot be read, so it does not count: " + f.Message,
			Hint:    f.Hint,
		})
		return
	}
}

// Join adds what another survey found.
func (s *Survey) Join(found *Surroundings) {
	if s.found.namespaces == nil {
		s.found.namespaces = map[string]*Namespace{}
	}
	maps.Copy(s.found.namespaces, found.namespaces)
	s.found.proxies = append(s.found.proxies, found.proxies...)
	s.found.bootstraps = append(s.found.bootstraps, found.bootstraps...)
	s.found.Findings = append(s.found.Findings, found.Findings...)
}
