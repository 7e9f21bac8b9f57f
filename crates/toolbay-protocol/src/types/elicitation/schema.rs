//! The fields of a form together, and what older revisions make of them.

use super::{BooleanSchema, FieldSchema, NumberSchema, SingleSelectSchema, StringSchema, TitledValue};
use crate::{
    revision::{Feature as F, Revision},
    types::{Dict, words::words},
};

words! {
    /// The form: a flat object of simple fields.
    #[derive(Default)]
    RequestedSchema: "type" = "object" {
        need {
            /// The fields, in order.
            properties: Dict<FieldSchema> = "properties",
        }
        may {
            /// Which must be filled in.
            required: Vec<String> = "required",
            /// Which dialect of JSON Schema (since 2025-11-25).
            dialect: String = "$schema",
        }
    }
}

impl RequestedSchema {
    /// Whether a field that must be filled in is a choice of several.
    pub(super) fn demands_several(&self) -> bool {
        let required = self.required.as_deref().unwrap_or_default();
        self.properties.iter().any(|(name, field)| {
            matches!(field, FieldSchema::Multi(_)) && required.iter().any(|demanded| demanded == name)
        })
    }

    /// Bends the form to a revision from before the modes; the names of the fields that it cannot ask for.
    pub(super) fn simplify(&mut self, revision: Revision) -> Vec<String> {
        let Self { properties, required: _, dialect, rest: _ } = self;
        revision.keep(F::ElicitationModes, dialect);
        let mut unasked = Vec::new();
        properties.retain(|name, field| {
            let FieldSchema::Multi(choice) = field else { return true };
            unasked.push(choice.title.clone().unwrap_or_else(|| name.to_owned()));
            false
        });
        for (_, field) in properties.iter_mut() {
            simplify_field(field, revision);
        }
        unasked
    }
}

fn simplify_field(field: &mut FieldSchema, revision: Revision) {
    match field {
        FieldSchema::String(field) => {
            let StringSchema { title: _, description: _, min_length: _, max_length: _, format: _, default, rest: _ } =
                field;
            revision.keep(F::ElicitationModes, default);
        }
        FieldSchema::Number(field) => {
            let NumberSchema { kind: _, title: _, description: _, minimum: _, maximum: _, default, rest: _ } = field;
            revision.keep(F::ElicitationModes, default);
        }
        FieldSchema::Boolean(BooleanSchema { title: _, description: _, default: _, rest: _ }) => {}
        FieldSchema::Single(field) => {
            let SingleSelectSchema { title: _, description: _, values, names, titled, default, rest: _ } = field;
            revision.keep(F::ElicitationModes, default);
            if let Some(titled) = titled.take() {
                *names = Some(titled.iter().map(|choice| choice.title.clone()).collect());
                *values = Some(titled.into_iter().map(|TitledValue { value, title: _, rest: _ }| value).collect());
            }
        }
        FieldSchema::Multi(_) | FieldSchema::Unknown(_) => {}
    }
}
