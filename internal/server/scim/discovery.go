package scim

import "net/http"

// config is the ServiceProviderConfig.
func (b base) config() document {
	no := document{"supported": false}
	return document{
		"schemas":          []string{coreSchema + "ServiceProviderConfig"},
		"documentationUri": "https://www.rfc-editor.org/rfc/rfc7644",
		"patch":            document{"supported": true},
		"bulk":             document{"supported": false, "maxOperations": 0, "maxPayloadSize": 0},
		"filter":           document{"supported": true, "maxResults": maxPage},
		"changePassword":   no, "sort": no,
		"etag": document{"supported": true},
		"authenticationSchemes": []document{{
			"type": "oauthbearertoken", "name": "Bearer token", "description": "A token that an administrator has made with throng scim token", "primary": true,
		}},
		"meta": document{"resourceType": "ServiceProviderConfig", "location": string(b) + "/ServiceProviderConfig"},
	}
}

// resourceType is a resource as one of /ResourceTypes.
func (b base) resourceType(t *resource) document {
	return document{
		"schemas": []string{coreSchema + "ResourceType"}, "id": t.name, "name": t.name, "description": t.about, "endpoint": "/" + t.path, "schema": t.schema,
		"meta": document{"resourceType": "ResourceType", "location": string(b) + "/ResourceTypes/" + t.name},
	}
}

// schemaOf is a resource's schema as one of /Schemas.
func (b base) schemaOf(t *resource) document {
	return document{
		"schemas": []string{coreSchema + "Schema"}, "id": t.schema, "name": t.name, "description": t.about, "attributes": described(t.attributes),
		"meta": document{"resourceType": "Schema", "location": string(b) + "/Schemas/" + t.schema},
	}
}

func described(list []*attribute) (all []document) {
	for _, a := range list {
		doc := document{"name": a.name, "type": a.kind, "multiValued": a.many, "description": a.about, "required": a.required, "caseExact": a.exact,
			"mutability": "readWrite", "returned": "default", "uniqueness": "none"}
		if a.fixed {
			doc["mutability"] = "readOnly"
		}
		if a.unique {
			doc["uniqueness"] = "server"
		}
		switch a.kind {
		case complex:
			doc["subAttributes"] = described(a.parts)
		case reference:
			doc["referenceTypes"] = []string{"uri"}
		}
		all = append(all, doc)
	}
	return all
}

// discover answers what is the same for everybody: a list, or the one with an id.
func discover(of func(base, *resource) document) handler {
	return func(q *request) (answer, error) {
		all := []document{of(q.base, users), of(q.base, groups)}
		id := q.PathValue("id")
		if id == "" {
			return answer{body: listOf(all, len(all), 1)}, nil
		}
		for _, doc := range all {
			if doc["id"] == id {
				return answer{body: doc}, nil
			}
		}
		return answer{}, &failure{status: http.StatusNotFound, detail: "there is none with this id"}
	}
}
