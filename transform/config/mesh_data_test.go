package config

import (
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
	meshv1alpha1 "istio.io/api/mesh/v1alpha1"
)

func intValue(n int32) *wrapperspb.Int32Value { return wrapperspb.Int32(n) }

// labelFormat is {a: 1, b: [true, null, {c: d}]} as the labels of an access log.
func labelFormat() *meshv1alpha1.MeshConfig_ExtensionProvider_EnvoyFileAccessLogProvider_LogFormat {
	labels, err := structpb.NewStruct(map[string]any{"a": 1, "b": []any{true, nil, map[string]any{"c": "d"}}})
	if err != nil {
		panic(err)
	}
	return &meshv1alpha1.MeshConfig_ExtensionProvider_EnvoyFileAccessLogProvider_LogFormat{
		LogFormat: &meshv1alpha1.MeshConfig_ExtensionProvider_EnvoyFileAccessLogProvider_LogFormat_Labels{Labels: labels},
	}
}
