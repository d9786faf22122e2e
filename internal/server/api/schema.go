package api

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/throng-dev/throng/internal/sim/forecast"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/label"
)

// schemaNames are the published names of schemas that differ from the names of
// the types of package wire: programs made from the document use them.
var schemaNames = map[string]string{
	"Account": "AccountOutBody", "Asked": "AskedOut", "Batch": "BatchOut", "BatchEdit": "Patch-v1-batches-by-idRequest", "BatchTerms": "BatchIn",
	"Called": "CalledOut", "Calling": "CallingSettings", "Control": "ControlSettings", "Credentials": "Post-v1-sessionRequest",
	"Deposit": "Post-v1-tenants-by-id-depositsRequest", "Done": "DoneOut", "Duty": "DutyOut", "Earnings": "EarningsOutBody", "Entry": "EntryOut",
	"Expect": "ControlExpect", "Fault": "FaultOut", "FiredRule": "FiredOut", "Forecast": "ForecastOut", "Held": "HeldOut", "ID": "IdOutBody",
	"Invitation": "InvitationOut", "InvitationToken": "TokenInBody", "Invited": "InvitedOutBody", "Item": "ItemOut", "ItemStop": "StopOut",
	"Join": "Post-v1-invitation-joinRequest", "Lease": "HeartbeatOutBody", "Loaded": "LoadedOutBody", "MadeToken": "NewTokenOutBody",
	"MadeUser": "CreatedOutBody", "Message": "MessageOut", "MetricName": "NameOut", "NewBatch": "Post-v1-batchesRequest",
	"NewInvitations": "Post-v1-invitationsRequest", "NewPool": "Post-v1-poolsRequest", "NewPushSubscription": "Post-v1-push-subscriptionsRequest",
	"NewRun": "Post-v1-runsRequest", "NewTenant": "Post-v1-tenantsRequest", "NewTest": "Post-v1-testsRequest", "NewToken": "Post-v1-tokensRequest",
	"NewUser": "Post-v1-usersRequest", "Next": "NextOutBody", "Notice": "NoticeOut", "Pool": "PoolOut", "PoolAction": "ActionOut", "PoolCall": "CallOut",
	"PoolDecision": "DecisionOut", "PoolEdit": "Patch-v1-pools-by-idRequest", "PoolFunding": "Post-v1-pools-by-id-fundsRequest",
	"PoolMetrics": "MetricsOut", "PoolMove": "MoveOut", "PoolPerson": "PersonOut", "PoolSample": "SampleOut", "Preview": "PreviewOutBody",
	"PushKey": "KeyOutBody", "PushKeys": "KeysStruct", "PushSubscription": "SubscriptionOut", "Qualification": "Requirement", "Quality": "QualityOut",
	"Retainer": "RetainerSettings", "Retire": "Post-v1-tests-by-id-retireRequest", "Retried": "AgainOutBody",
	"RulesToTest": "Post-v1-pools-by-id-rules-testRequest", "Run": "RunOut", "RunHead": "RunBrief", "RunningTry": "RunningOut",
	"Secret": "SecretOutBody", "Setup": "Post-v1-setupRequest", "Skipped": "SkipOutBody", "SkippedAddress": "Skipped", "SlowItem": "SlowOut",
	"Stop": "Post-v1-stopRequest", "Submit": "SubmitIn", "Submitted": "SubmitBody", "Target": "ControlTarget", "Tenant": "TenantOut",
	"TenantEdit": "Patch-v1-tenants-by-idRequest", "TenantSecret": "Put-v1-tenants-by-id-secrets-by-nameRequest", "Test": "TestOut",
	"TestedRules": "TestedOutBody", "Token": "TokenOut", "TopUp": "Post-v1-batches-by-id-top-upRequest", "Transfer": "Post-v1-pools-by-id-transfersRequest",
	"Transferred": "TransferOutBody", "Try": "TriedOut", "TryAnswers": "Post-v1-my-tests-by-id-submitRequest", "TryResult": "ResultOut",
	"Uploaded": "UploadOutBody", "User": "UserOut", "UserEdit": "Patch-v1-users-by-idRequest", "Why": "WhyOutBody", "Wishes": "WishesBody",
	"Work": "WorkOut", "Workflow": "WorkflowOut",
}

// newSchemas returns the registry of the document's schemas.
func newSchemas() huma.Registry {
	wireTypes := reflect.TypeFor[wire.Problem]().PkgPath()
	r := huma.NewMapRegistry("#/components/schemas/", func(t reflect.Type, hint string) string {
		name := huma.DefaultSchemaNamer(t, hint)
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if published, ok := schemaNames[name]; ok && t.PkgPath() == wireTypes {
			return published
		}
		return name
	})
	r.RegisterTypeAlias(reflect.TypeFor[label.Rule](), reflect.TypeFor[redundancySchema]())
	r.RegisterTypeAlias(reflect.TypeFor[wire.Template](), reflect.TypeFor[templateSchema]())
	r.RegisterTypeAlias(reflect.TypeFor[workflow.Kind](), reflect.TypeFor[stepKindSchema]())
	r.RegisterTypeAlias(reflect.TypeFor[wire.NodeKind](), reflect.TypeFor[nodeKindSchema]())
	r.RegisterTypeAlias(reflect.TypeFor[wire.Values](), reflect.TypeFor[valuesSchema]())
	r.RegisterTypeAlias(reflect.TypeFor[forecast.State](), reflect.TypeFor[poolStateSchema]())
	return r
}

// redundancySchema is the schema of label.Rule.
type redundancySchema struct{}

// Schema implements huma.SchemaProvider.
func (redundancySchema) Schema(huma.Registry) *huma.Schema {
	number := &huma.Schema{Type: huma.TypeInteger}
	return &huma.Schema{
		Type:        huma.TypeObject,
		Description: `How many answers a task needs: {"count": n}; {"agree": k, "of": n}: as soon as k are equal, at most n; or {"until": p, "min": k, "at_most": n}: as soon as the label is right with probability p by what people's answers are worth, with k to n answers (2 and 10 if left out)`,
		Properties:  map[string]*huma.Schema{"count": number, "agree": number, "of": number, "until": {Type: huma.TypeNumber}, "min": number, "at_most": number},
		Examples:    []any{map[string]int{"count": 3}},
	}
}

// templateSchema is the schema of a template.
type templateSchema struct{}

// Schema implements huma.SchemaProvider.
func (templateSchema) Schema(huma.Registry) *huma.Schema {
	kinds := make([]any, 0, len(task.Kinds()))
	for _, k := range task.Kinds() {
		kinds = append(kinds, string(k))
	}
	return &huma.Schema{
		Type:                 huma.TypeObject,
		Description:          "How a task is shown and answered; see docs/templates.md",
		Properties:           map[string]*huma.Schema{"kind": {Type: huma.TypeString, Enum: kinds}},
		Required:             []string{"kind"},
		AdditionalProperties: true,
		Examples:             []any{map[string]any{"kind": "choose_one", "question": "Is this a ${thing}?", "options": []string{"yes", "no"}}},
	}
}

// stepKindSchema is the schema of workflow.Kind.
type stepKindSchema struct{}

// Schema implements huma.SchemaProvider.
func (stepKindSchema) Schema(huma.Registry) *huma.Schema { return kindSchema() }

// nodeKindSchema is the schema of wire.NodeKind.
type nodeKindSchema struct{}

// Schema implements huma.SchemaProvider.
func (nodeKindSchema) Schema(huma.Registry) *huma.Schema { return kindSchema("input") }

func kindSchema(more ...any) *huma.Schema {
	for _, k := range workflow.Kinds() {
		more = append(more, string(k))
	}
	return &huma.Schema{Type: huma.TypeString, Enum: more}
}

// valuesSchema is the schema of a task's data.
type valuesSchema struct{}

// Schema implements huma.SchemaProvider.
func (valuesSchema) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: &huma.Schema{Type: huma.TypeString}}
}

// poolStateSchema is the schema of forecast.State.
type poolStateSchema struct{}

// Schema implements huma.SchemaProvider.
func (poolStateSchema) Schema(huma.Registry) *huma.Schema {
	text := &huma.Schema{Type: huma.TypeString}
	things := &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}}
	return &huma.Schema{
		Type:        huma.TypeObject,
		Description: "A pool at one moment, in the form that `version` says",
		Properties: map[string]*huma.Schema{
			"version": {Type: huma.TypeInteger, Enum: []any{forecast.Version}}, "now": {Type: huma.TypeString, Format: "date-time"},
			"pool": text, "name": text, "policy": text, "tenants": things, "workers": things, "batches": things,
			"observed": {Type: huma.TypeObject, AdditionalProperties: true},
		},
		Required:             []string{"version", "now", "pool", "policy", "tenants", "workers", "batches", "observed"},
		AdditionalProperties: true,
	}
}
