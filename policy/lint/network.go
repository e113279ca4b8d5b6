package lint

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// needsNetwork says what speaks for an init container that needs the network; empty where nothing does. Over real
// manifests more than half of the init containers only copy files, change owners or set kernel parameters, so a command
// without a sign of the network counts for one that needs none.
func needsNetwork(c *corev1.Container) string {
	if s := c.SecurityContext; s != nil && s.Capabilities != nil && slices.Contains(s.Capabilities.Add, "NET_ADMIN") {
		return "" // it sets the network up
	}
	if len(c.Command)+len(c.Args) == 0 {
		return "runs its image's own program, which may need the network"
	}
	words := strings.Join(append(slices.Clone(c.Command), c.Args...), " ")
	if word := networkWord().FindString(words); word != "" {
		return "seems to need the network (" + strings.Trim(word, " ;|&()\n\"'") + ")"
	}
	for _, e := range c.Env {
		if strings.Contains(e.Value, "://") {
			return "seems to need the network (" + e.Name + ")"
		}
	}
	return ""
}

// networkWord finds an address or the name of a program that does nothing without the network.
var networkWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`https?://|\b[a-z0-9.-]+\.svc\b|(^|[\s;|&(/])(curl|wget|nc|netcat|ping|nslookup|dig|host|getent|` +
		`psql|pg_isready|mysql|mysqladmin|mongo|mongosh|redis-cli|kubectl|vault|aws|gcloud|gsutil|git|ssh|rsync|` +
		`flyway|liquibase|alembic|migrate|grpcurl|etcdctl|wait-for|wait-for-it(\.sh)?|dockerize)(\s|$)|db:migrate|manage\.py migrate|prisma migrate`)
})
