{{- define "throng.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "throng.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "throng.labels" -}}
{{ include "throng.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "throng.check" -}}
{{- if and (gt (int .Values.replicas) 1) (not .Values.database.existingSecret) }}
{{- fail "replicas: SQLite is a file of one server: set replicas to 1, or database.existingSecret to a secret with the address of a PostgreSQL database" }}
{{- end }}
{{- if and (gt (int .Values.replicas) 1) (not .Values.keys.existingSecret) }}
{{- fail "keys.existingSecret: servers that share a database need the same keys: set it, or replicas to 1" }}
{{- end }}
{{- end }}
