package lifecycle

import (
	"slices"
	"time"
)

// finishJob plays the end of a Job's pod in phase Start.
func (s *starting) finishJob() {
	if len(s.runs) == 0 {
		return // a template without an app of its own says nothing about a Job
	}
	end := time.Duration(0)
	for _, r := range s.runs {
		end = max(end, r.start+s.o.AppDuration)
	}
	limit, limited := s.m.deadline()
	deadline := Never
	if limited {
		deadline = ofSeconds(limit)
	}
	if deadline < end {
		s.deleteAt(deadline)
		return
	}
	for _, r := range s.runs {
		s.exit(r.c, r.start+s.o.AppDuration, s.o.AppExitCode)
	}
	if s.o.AppExitCode != 0 && !s.m.never() {
		s.cut(end)
		s.f.at(JobRetrying, Whole, end, end)
		return
	}
	done := s.proxyAfter(end)
	switch {
	case done <= deadline && done < Never:
		s.complete(done)
	case done >= Never:
		s.f.at(JobNeverCompletes, Whole, end, Never)
		fallthrough
	default:
		if deadline < Never {
			s.deleteAt(deadline)
		}
	}
}

// deleteAt ends the story with the Job controller's deletion of the pod.
func (s *starting) deleteAt(deadline time.Duration) {
	s.cut(deadline)
	s.pod(deadline, PodDeleted, rankLast)
	s.f.at(JobDeadline, Whole, deadline, deadline)
}

func (s *starting) complete(at time.Duration) {
	kind, id := PodSucceeded, JobCompletes
	if s.o.AppExitCode != 0 {
		kind, id = PodFailed, JobFailed
	}
	s.pod(at, kind, rankLast)
	s.f.at(id, Whole, at, at)
}

// proxyAfter plays the proxy and the other sidecars after the last app has ended, and gives the end of the pod.
func (s *starting) proxyAfter(end time.Duration) time.Duration {
	switch s.m.sidecar {
	case Classic:
		return s.classicAfter(end)
	default:
		return s.sidesAfter(end)
	}
}

func (s *starting) classicAfter(end time.Duration) time.Duration {
	last := s.alive[len(s.alive)-1].to
	if last <= end {
		return s.sidesAfter(end)
	}
	if after, ok := s.m.quits(s.o); ok && s.o.AppQuitsProxy && end+after <= last {
		s.forget(end)
		e := s.exit(s.m.proxy, end+after, 0)
		e.Cause = CauseQuit
		return s.sidesAfter(end + after)
	}
	if last < Never { // Envoy crashes later and is not started again
		return s.sidesAfter(last)
	}
	return Never
}

// sidesAfter stops the native sidecars once no regular container is left.
func (s *starting) sidesAfter(end time.Duration) time.Duration {
	sides := s.m.sides()
	if len(sides) == 0 {
		return end
	}
	if s.m.sidecar == Native {
		s.forget(end)
	}
	stop := &stopping{
		trace: s.trace, m: s.m, o: s.o, f: s.f, base: end, job: true,
		exits: map[*container]time.Duration{}, listeners: Never,
	}
	stop.stopSides(sides)
	return stop.last(sides)
}

// forget drops what the proxy would have done after end, had the Job not ended then.
func (s *starting) forget(end time.Duration) {
	name := s.m.proxy.name
	s.events = slices.DeleteFunc(s.events, func(r ranked) bool { return r.Container == name && r.At > end })
}
