package pod

import "google.golang.org/protobuf/reflect/protoreflect"

// The names under which a message is copied field by field.
type (
	fieldDescriptor = protoreflect.FieldDescriptor
	value           = protoreflect.Value
)
