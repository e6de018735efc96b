//! Checks values against the schemas in `schema/`.
//!
//! Only the keywords that they use are supported; an unknown one fails, so that none is silently ignored.

use serde_json::Value;

/// The report of a port. Panics with the location of the first difference.
pub(crate) fn check(value: &Value) {
    check_by(include_str!("../../../../schema/ported.schema.json"), value);
}

/// The report of a forward pass.
pub(crate) fn check_forward(value: &Value) {
    check_by(include_str!("../../../../schema/forward.schema.json"), value);
}

/// The result of a twin run.
pub(crate) fn check_twin(value: &Value) {
    check_by(include_str!("../../../../schema/twin.schema.json"), value);
}

/// The answer about an API name.
pub(crate) fn check_api(value: &Value) {
    check_by(include_str!("../../../../schema/api.schema.json"), value);
}

/// Messages as SARIF: by the schema of what is printed and, if `PORTOLAN_SARIF_SCHEMA` names a file with the official one,
/// by that, with the tests' Python and its package `jsonschema`.
pub(crate) fn check_sarif(value: &Value) {
    check_by(include_str!("../../../../schema/sarif.schema.json"), value);
    let Some(schema) = std::env::var_os("PORTOLAN_SARIF_SCHEMA") else { return };
    let program = "import json, jsonschema, sys\n\
        schema = json.load(open(sys.argv[1]))\n\
        jsonschema.validators.validator_for(schema)(schema, format_checker=jsonschema.FormatChecker()).validate(json.loads(sys.argv[2]))";
    let ran = std::process::Command::new("python3").args(["-c", program]).arg(schema).arg(value.to_string()).output();
    let ran = ran.unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

/// All targets side by side.
pub(crate) fn check_matrix(value: &Value) {
    check_by(include_str!("../../../../schema/matrix.schema.json"), value);
}

/// What is known about a log.
pub(crate) fn check_explain(value: &Value) {
    check_by(include_str!("../../../../schema/explain.schema.json"), value);
}

fn check_by(text: &str, value: &Value) {
    let root: Value = serde_json::from_str(text).unwrap();
    assert_eq!(root["$schema"], "https://json-schema.org/draft/2020-12/schema");
    valid(&root, &root, value, "$");
}

fn valid(root: &Value, schema: &Value, value: &Value, at: &str) {
    let Some(keywords) = schema.as_object() else { panic!("{at}: a schema is an object") };
    // Null is only allowed for a value that may be missing.
    if value.is_null() && schema["type"].as_array().is_some_and(|types| types.contains(&"null".into())) {
        return;
    }
    for (keyword, rule) in keywords {
        match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" => {}
            "$ref" => {
                let name = rule.as_str().unwrap().strip_prefix("#/").unwrap();
                let target = name.split('/').fold(root, |part, key| &part[key]);
                assert!(target.is_object(), "{at}: {rule} leads nowhere");
                valid(root, target, value, at);
            }
            "type" => {
                let is = |name: &Value| match name.as_str().unwrap() {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "boolean" => value.is_boolean(),
                    "integer" => value.is_u64() || value.is_i64(),
                    "number" => value.is_number(),
                    "null" => value.is_null(),
                    other => panic!("{at}: type {other} is not checked"),
                };
                let fits = rule.as_array().map_or_else(|| is(rule), |types| types.iter().any(is));
                assert!(fits, "{at}: {value} is no {rule}");
            }
            "enum" => assert!(rule.as_array().unwrap().contains(value), "{at}: {value} is none of {rule}"),
            "pattern" => {
                let pattern = regex::Regex::new(rule.as_str().unwrap()).unwrap();
                assert!(pattern.is_match(value.as_str().unwrap()), "{at}: {value} does not match {rule}");
            }
            "minLength" => assert!(value.as_str().unwrap().chars().count() as u64 >= rule.as_u64().unwrap(), "{at}"),
            "minimum" => assert!(value.as_f64().unwrap() >= rule.as_f64().unwrap(), "{at}: {value}"),
            "required" => {
                for name in rule.as_array().unwrap() {
                    assert!(value.get(name.as_str().unwrap()).is_some(), "{at}: {name} is missing");
                }
            }
            "properties" => {
                for (name, part) in rule.as_object().unwrap() {
                    if let Some(value) = value.get(name) {
                        valid(root, part, value, &format!("{at}.{name}"));
                    }
                }
            }
            "additionalProperties" => {
                let named = |name: &str| schema.get("properties").is_some_and(|known| known.get(name).is_some());
                for (name, value) in value.as_object().unwrap().iter().filter(|(name, _)| !named(name)) {
                    assert!(rule != &Value::Bool(false), "{at}: {name} is not in the schema");
                    valid(root, rule, value, &format!("{at}.{name}"));
                }
            }
            "items" => {
                for (index, item) in value.as_array().unwrap().iter().enumerate() {
                    valid(root, rule, item, &format!("{at}[{index}]"));
                }
            }
            other => panic!("{at}: the keyword {other} is not checked"),
        }
    }
}

#[test]
#[should_panic(expected = "is missing")]
fn the_check_finds_faults() {
    check(&serde_json::json!({ "target": "hpu" }));
}
