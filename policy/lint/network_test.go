package lint

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestNeedsNetwork(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in   corev1.Container
		want bool
	}{
		"image alone":       {corev1.Container{}, true},
		"wait for a port":   {corev1.Container{Command: []string{"sh", "-c", "until nc -z db 5432; do sleep 1; done"}}, true},
		"curl in a script":  {corev1.Container{Command: []string{"sh", "-c"}, Args: []string{"x=$(curl -s meta)"}}, true},
		"address":           {corev1.Container{Command: []string{"/warm", "http://shop"}}, true},
		"address in a name": {corev1.Container{Command: []string{"/warm"}, Env: []corev1.EnvVar{{Name: "SHOP", Value: "http://shop"}}}, true},
		"migration":         {corev1.Container{Command: []string{"python", "manage.py", "migrate"}}, true},
		"owner":             {corev1.Container{Command: []string{"chown", "-R", "999", "/data"}}, false},
		"kernel":            {corev1.Container{Command: []string{"sysctl", "-w", "vm.max_map_count=262144"}}, false},
		"copy":              {corev1.Container{Command: []string{"sh", "-c", "cp -r /conf/* /etc/host/"}}, false},
		"its own network": {corev1.Container{SecurityContext: &corev1.SecurityContext{
			Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"NET_ADMIN"}},
		}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := needsNetwork(&c.in); (got != "") != c.want {
				t.Errorf("%q", got)
			}
		})
	}
}
