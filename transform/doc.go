// Package transform is the way from bytes in to bytes out.
//
// An [Injector] is one configuration. It takes a stream of manifests, cuts it into documents, and for each pod
// template in them decides, injects on types, and splices the difference into the document's own bytes; what is not
// injected leaves as it came. Documents are worked on in parallel and come out in order.
//
// The Injector is also a kyaml kio.Filter, so that other programs can put it between a reader and a writer of theirs.
package transform
