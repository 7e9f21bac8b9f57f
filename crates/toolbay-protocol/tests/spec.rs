//! The types against the official schemas, which are read at run time where they are present: from `$TOOLBAY_SPEC`, else
//! from `shared/spec` beside the workspace.

#[path = "spec/examples.rs"]
mod examples;
#[path = "spec/generate.rs"]
mod generate;
#[path = "spec/relay.rs"]
mod relay;
#[path = "spec/schema.rs"]
mod schema;
#[path = "spec/table.rs"]
mod table;

use schema::Spec;
use toolbay_protocol::Method;

#[test]
fn requests_and_answers_conform_to_every_revision() {
    let Some(spec) = Spec::load() else { return };
    table::messages(&spec);
}

#[test]
fn things_conform_to_every_revision() {
    let Some(spec) = Spec::load() else { return };
    table::things(&spec);
}

#[test]
fn what_one_revision_wrote_is_valid_where_it_is_carried() {
    let Some(spec) = Spec::load() else { return };
    relay::carries_all(&spec);
}

#[test]
fn every_example_survives() {
    let Some(spec) = Spec::load() else { return };
    let count = examples::check_all(&spec.folder.join("2026-07-28/examples"));
    assert!(count >= 129, "{count} examples found");
}

#[test]
fn methods_live_where_the_schemas_have_them() {
    let Some(spec) = Spec::load() else { return };
    for of in &spec.revisions {
        let named = of.methods();
        for method in Method::KNOWN {
            assert_eq!(method.lives_in(of.revision), named.contains(method.as_str()), "{method} in {}", of.revision);
        }
        for name in named {
            assert!(!matches!(Method::parse(&name), Method::Other(_)), "{name} in {}", of.revision);
        }
    }
}
