package cli

import (
	"io"
	"strings"
	"sync"

	"github.com/kube-inject/inject/cmd/internal/files"
	"github.com/kube-inject/inject/policy"
	"github.com/kube-inject/inject/transform"
	"github.com/kube-inject/inject/transform/config"
)

// survey finds the Namespaces and ProxyConfigs of all inputs, which may stand behind the pods that they are about. It
// begins when the first pod asks, so a run that injects nothing does not pay for it.
type survey struct {
	process *Process
	inputs  []files.Input
	// held are the inputs that can be read once only, by index.
	held map[int]*held
	from *config.Source
	// namespace is that of objects that name none.
	namespace string
	// bootstraps looks for overrides of Envoy's bootstrap, too.
	bootstraps bool

	once  sync.Once
	found *transform.Surroundings
}

// look prepares the survey of the inputs; commands call it before compile.
func (c *configFlags) look(p *Process, inputs []files.Input) {
	c.survey = newSurvey(p, inputs)
	c.survey.namespace = c.namespace
}

// lookForBootstraps has the survey find overrides of Envoy's bootstrap.
func (s *survey) lookForBootstraps() {
	s.bootstraps = true
	for _, h := range s.held {
		h.survey.Bootstraps = true
	}
}

// surroundings says what of the namespaces decides. Namespaces in the input decide only when asked for: charts ship
// theirs without labels, and without the question the result is what kube-inject gives. Their OpenShift ranges and
// ProxyConfigs count always, since they decide what a pod gets and not whether.
func (c *configFlags) surroundings(s *transform.Setup) []policy.Finding {
	if c.survey != nil {
		s.Surroundings = c.survey.surroundings
	}
	s.NamespacesDecide = c.namespacesFromInput
	if c.labelled == nil || !c.labelled.Changed {
		return nil
	}
	labels := map[string]string{}
	for kv := range strings.SplitSeq(c.namespaceLabels, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(kv), "=")
		switch {
		case key == "" && !ok:
		case key == "" || !ok:
			return problem(files.CodeUsage, "--namespace-labels "+c.namespaceLabels+": no key=value",
				"write --namespace-labels istio-injection=enabled,team=shop")
		default:
			labels[key] = value
		}
	}
	s.NamespacesDecide = c.survey != nil
	s.NamespaceLabels = func(string) (map[string]string, bool) { return labels, true }
	return nil
}

// surveyBlock is the size of the pieces in which files are read.
const surveyBlock = 256 << 10

// newSurvey prepares a survey; streams among the inputs are read through it from now on.
func newSurvey(p *Process, inputs []files.Input) *survey {
	s := &survey{process: p, inputs: inputs, held: map[int]*held{}}
	for i := range inputs {
		if inputs[i].Stream {
			h := &held{origin: inputs[i], spool: files.Spool{Dir: p.TempDir, Limit: heldLimit}}
			h.stream = h.survey.Stream(inputs[i].Name)
			s.held[i] = h
			inputs[i].Replace(h)
		}
	}
	return s
}

// surroundings reads what has not been read yet. An input that cannot be read is an error of the run that reads it, not
// of the survey.
func (s *survey) surroundings() *transform.Surroundings {
	s.once.Do(func() {
		all := transform.Survey{Bootstraps: s.bootstraps}
		if s.from != nil {
			stream := all.Stream(s.from.Name)
			_, _ = stream.Write(s.from.Data)
			_ = stream.Close()
		}
		for i := range s.inputs {
			if h := s.held[i]; h != nil {
				all.Join(h.finish())
				continue
			}
			s.file(&all, s.inputs[i])
		}
		s.found = all.Found()
		s.found.DefaultNamespace = s.namespace
	})
	return s.found
}

func (s *survey) file(all *transform.Survey, in files.Input) {
	r, err := in.Open()
	if err != nil {
		return
	}
	stream := all.Stream(in.Name)
	_, _ = io.CopyBuffer(struct{ io.Writer }{stream}, struct{ io.Reader }{r}, make([]byte, surveyBlock))
	_ = stream.Close()
	_ = r.Close()
}

// problems are warnings about what the survey found; none where no pod asked.
func (s *survey) problems() []policy.Finding {
	if s == nil || s.found == nil {
		return nil
	}
	return s.found.Findings
}

// close frees what held inputs keep.
func (s *survey) close() {
	if s == nil {
		return
	}
	for _, h := range s.held {
		h.close()
	}
}

// heldLimit is how much of a stream is kept in memory while its pods wait for its end; the rest goes to a file. Output
// and input together have to stay within what a run may take.
const heldLimit = 8 << 20

// held is an input that can be read once only. What passes through it is surveyed; when a pod asks before its end, the
// rest is read into a spool, from which the run then goes on.
type held struct {
	origin files.Input

	mu     sync.Mutex
	survey transform.Survey
	stream *transform.SurveyStream
	opened io.ReadCloser
	spool  files.Spool
	// rest reads the spool once the stream has been read to its end.
	rest io.Reader
	done bool
	err  error
}

// Read gives the next bytes of the input.
func (h *held) Read(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.rest != nil {
		n, err := h.rest.Read(p)
		if err == io.EOF && h.err != nil {
			err = h.err
		}
		return n, err
	}
	return h.next(p)
}

// next reads from the input itself.
func (h *held) next(p []byte) (int, error) {
	if h.done {
		return 0, h.end()
	}
	if h.opened == nil {
		r, err := h.origin.Open()
		if err != nil {
			h.done, h.err = true, err
			return 0, err
		}
		h.opened = r
	}
	n, err := h.opened.Read(p)
	_, _ = h.stream.Write(p[:n])
	if err != nil {
		h.done = true
		_ = h.stream.Close()
		_ = h.opened.Close()
		if err != io.EOF {
			h.err = err
		}
	}
	return n, err
}

func (h *held) end() error {
	if h.err != nil {
		return h.err
	}
	return io.EOF
}

// finish reads the input to its end and gives what it holds.
func (h *held) finish() *transform.Surroundings {
	h.mu.Lock()
	defer h.mu.Unlock()
	block := make([]byte, surveyBlock)
	for !h.done {
		n, _ := h.next(block)
		if _, err := h.spool.Write(block[:n]); err != nil {
			h.done, h.err = true, err
		}
	}
	if h.rest == nil && h.spool.Len() > 0 {
		h.rest = h.spool.Reader()
	}
	return h.survey.Found()
}

func (h *held) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	_ = h.spool.Close()
}
