//! Forms: what is left out has its default (spec: client/elicitation, defaults).

use toolbay_protocol::{
    Raw,
    types::{ElicitResult, FieldSchema, RequestedSchema},
};

/// An accepted answer, with the defaults of fields that were left out.
pub(crate) fn filled(mut answer: ElicitResult, schema: &Raw) -> ElicitResult {
    let Ok(schema) = schema.read::<RequestedSchema>() else { return answer };
    if !answer.accepted() {
        return answer;
    }
    let content = answer.content.get_or_insert_default();
    for (name, field) in schema.properties.iter() {
        if content.get(name).is_none()
            && let Some(default) = default_of(field)
        {
            content.insert(name, default);
        }
    }
    answer
}

fn default_of(field: &FieldSchema) -> Option<Raw> {
    match field {
        FieldSchema::String(field) => field.default.as_ref().map(Raw::of),
        FieldSchema::Number(field) => field.default.as_ref().map(Raw::of),
        FieldSchema::Boolean(field) => field.default.as_ref().map(Raw::of),
        FieldSchema::Single(field) => field.default.as_ref().map(Raw::of),
        FieldSchema::Multi(field) => field.default.as_ref().map(Raw::of),
        _ => None,
    }
}
