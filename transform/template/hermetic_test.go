package template

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kube-inject/inject/policy"
)

// sample gives an argument of a type; functions that cannot use it answer with an error, which must be the same too.
func sample(t reflect.Type) reflect.Value {
	switch t.Kind() {
	case reflect.String:
		return reflect.ValueOf("b a/c,d").Convert(t)
	case reflect.Int, reflect.Int32, reflect.Int64:
		return reflect.ValueOf(3).Convert(t)
	case reflect.Float64:
		return reflect.ValueOf(1.5)
	case reflect.Bool:
		return reflect.ValueOf(true)
	case reflect.Map:
		m := reflect.MakeMap(t)
		for _, k := range []string{"z", "a", "m"} {
			v := reflect.New(t.Elem()).Elem()
			if t.Elem().Kind() == reflect.String || t.Elem().Kind() == reflect.Interface {
				v.Set(reflect.ValueOf("v" + k))
			}
			m.SetMapIndex(reflect.ValueOf(k).Convert(t.Key()), v)
		}
		return m
	case reflect.Slice:
		s := reflect.MakeSlice(t, 2, 2)
		if t.Elem().Kind() == reflect.String || t.Elem().Kind() == reflect.Interface {
			s.Index(0).Set(reflect.ValueOf("y"))
			s.Index(1).Set(reflect.ValueOf("x"))
		}
		return s
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return reflect.ValueOf(any(map[string]any{"k": "v", "a": 1.0})).Convert(t)
		}
	}
	return reflect.Zero(t)
}

// answers calls every function and prints what came out.
func answers() string {
	var b strings.Builder
	funcs := Functions(Environment{})
	for _, name := range slices.Sorted(maps.Keys(funcs)) {
		fmt.Fprintf(&b, "%s: %s\n", name, answer(reflect.ValueOf(funcs[name])))
	}
	return b.String()
}

func answer(f reflect.Value) (text string) {
	defer func() {
		if p := recover(); p != nil {
			text = fmt.Sprintf("panic: %v", p)
		}
	}()
	var args []reflect.Value
	for i := range f.Type().NumIn() {
		t := f.Type().In(i)
		if f.Type().IsVariadic() && i == f.Type().NumIn()-1 {
			args = append(args, sample(t.Elem()), sample(t.Elem()))
			break
		}
		args = append(args, sample(t))
	}
	for _, out := range f.Call(args) {
		text += fmt.Sprintf("%v;", out.Interface())
	}
	return text
}

const childVariable = "INJECT_TEST_ANSWERS"

// TestHermetic calls every function here and in processes with another time zone, home and language: all answers are the
// same. It cannot run in parallel with itself, as the child is this very test.
func TestHermetic(t *testing.T) {
	if os.Getenv(childVariable) != "" {
		fmt.Print("<<" + answers() + ">>")
		return
	}
	want := answers()
	if n := strings.Count(want, "\n"); n < 150 {
		t.Fatalf("only %d functions", n)
	}
	for _, env := range [][]string{
		{"TZ=Asia/Tokyo", "HOME=/nowhere", "LANG=tr_TR.UTF-8"},
		{"TZ=America/New_York", "HOME=/tmp", "LANG=C", "USER=someone"},
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestHermetic$")
		cmd.Env = append(env, childVariable+"=1")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		_, got, _ := strings.Cut(string(out), "<<")
		got, _, _ = strings.Cut(got, ">>")
		for i, line := range strings.Split(want, "\n") {
			if lines := strings.Split(got, "\n"); i >= len(lines) || lines[i] != line {
				t.Errorf("with %v: want %q", env, line)
				break
			}
		}
	}
}

// TestRemovedFunctions holds that none of the names of the list can be called, and that each says why.
func TestRemovedFunctions(t *testing.T) {
	t.Parallel()
	for _, r := range removed() {
		for name := range strings.FieldsSeq(r.names) {
			_, f := Parse("t", "{{ "+name+" }}", policy.Position{Line: 1}, Functions(Environment{}))
			if f == nil || !strings.Contains(f.Message, r.why) {
				t.Errorf("%s: %v", name, f)
			}
		}
	}
}
