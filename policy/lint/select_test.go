package lint

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kube-inject/inject/policy"
)

func TestSelect(t *testing.T) {
	t.Parallel()
	rules := []Rule{
		{ID: "a", Category: Ports}, {ID: "b", Category: Ports, OptIn: true}, {ID: "c", Category: Security, Severity: policy.Error},
	}
	for name, c := range map[string]struct {
		in   Settings
		want string
		err  string
	}{
		"default":          {Settings{}, "a c", ""},
		"enable":           {Settings{Enable: []string{"b"}}, "a b c", ""},
		"enable category":  {Settings{Enable: []string{"ports"}}, "a b c", ""},
		"disable":          {Settings{Disable: []string{"a"}}, "c", ""},
		"disable wins":     {Settings{Enable: []string{"b"}, Disable: []string{"ports"}}, "c", ""},
		"only":             {Settings{Only: []string{"b"}}, "b", ""},
		"unknown":          {Settings{Only: []string{"x", "a"}, Disable: []string{"securty"}}, "", `there is no rule "securty"`},
		"unknown severity": {Settings{Severity: map[string]policy.Severity{"d": policy.Info}}, "", `there is no rule "d"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Select(rules, c.in)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v", err)
				}
				return
			}
			var ids []string
			for _, r := range got {
				ids = append(ids, r.ID)
			}
			if d := cmp.Diff(c.want, strings.Join(ids, " ")); d != "" || err != nil {
				t.Error(d, err)
			}
		})
	}
	got, err := Select(rules, Settings{Severity: map[string]policy.Severity{"c": policy.Info}})
	if err != nil || got[1].Severity != policy.Info || rules[2].Severity != policy.Error {
		t.Errorf("severity: %v %v", got, err)
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	const text = "a: 1\nbü: true # x\n"
	for name, c := range map[string]struct {
		spot Spot
		with string
		want string
		ok   bool
	}{
		"value":     {Spot{2, 5, 4}, `"true"`, "a: 1\nbü: \"true\" # x\n", true},
		"key":       {Spot{2, 1, 2}, "c", "a: 1\nc: true # x\n", true},
		"no length": {Spot{2, 5, 0}, "x", "", false},
		"no line":   {Spot{9, 1, 1}, "x", "", false},
		"past end":  {Spot{1, 4, 9}, "x", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := replace(text, c.spot, c.with)
			if got != c.want || ok != c.ok {
				t.Errorf("%q %t", got, ok)
			}
		})
	}
}

func TestWaitsItself(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command, args []string
		want          string
	}{
		"poll":            {[]string{"sh", "-c", "until curl localhost:15021/healthz/ready; do sleep 1; done; exec /a"}, nil, "command"},
		"poll in args":    {[]string{"sh", "-c"}, []string{"wget -q localhost:15020/healthz/ready && /a"}, "args"},
		"sleep then exec": {[]string{"sh", "-c", "sleep 5; exec /a"}, nil, "command"},
		"sleep in a loop": {[]string{"sh", "-c", "while true; do sleep 5; done"}, nil, ""},
		"sleep for ever":  {[]string{"sleep", "3600"}, nil, ""},
		"quit":            {[]string{"sh", "-c", "/a; curl -X POST localhost:15020/quitquitquit"}, nil, ""},
		"other port":      {[]string{"sh", "-c", "curl localhost:8080; exec /a"}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, _ := waitsItself(containerOf(c.command, c.args)); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func containerOf(command, args []string) *corev1.Container {
	return &corev1.Container{Command: command, Args: args}
}
