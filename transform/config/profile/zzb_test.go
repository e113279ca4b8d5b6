package profile
import ("testing";"strings"; corev1 "k8s.io/api/core/v1")
func bench(b *testing.B, text string){
 tm:=parse(b,"x",text)
 var p corev1.Pod
 decode(b, []byte(`{metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: w, ports: [{containerPort: 80}]}]}}`), &p)
 d := deployment(b, p, Values())
 b.ReportAllocs()
 for b.Loop(){ tm.Render(d) }
}
func BenchmarkZZ(b *testing.B){
 pre:=`{{- $x := .ProxyImage }}{{ $a := .ObjectMeta.Annotations }}{{ $p := .Values.global.proxy }}{{ $n := .Values.global.nothing }}{{ $d := . }}`
 for n,s:=range map[string]string{"nothing":"","quote":`{{ quote $x }}`,"printvar":`{{ $x }}`,"printq":`{{ printf "%q" $x }}`,"tojson":`{{ toJson $x }}`,"template":`{{ template "e" }}`,"isset":`{{ if isset $a "k" }}{{ end }}`,"index":`{{ if index $a "k" }}{{ end }}`,"eq":`{{ if eq $x "k" }}{{ end }}`,"annotation":`{{ annotation $d.ObjectMeta "k" "v" }}`,"print":`{{ print "x" $x }}`,"field":`{{ if $p.privileged }}{{ end }}`,"fieldlong":`{{ if .Values.global.proxy.privileged }}{{ end }}`,"var":`{{ if $n }}{{ end }}`,"assign":`{{ $n = $x }}`,"with":`{{ with $n }}{{ end }}`,"proto":`{{ protoToJSON .ProxyConfig }}`,"otel":`{{ otelResourceAttributes .MeshConfig $a $a "" .Spec.Containers }}`,"omitnil":`{{ if omitNil $p.resources }}{{ end }}`,"struct":`{{ .DeploymentMeta.Name }}`,"number":`{{ template "number" $p.statusPort }}`}{
  b.Run(n,func(b *testing.B){ bench(b, commonText+`{{ define "e" }}{{ end }}`+pre+strings.Repeat("x"+s,100)) })
 }
}
