//! What one revision wrote, carried to every other: it must be valid there.

use serde_json::Value;
use toolbay_protocol::{Fault, Method, Raw, Revision, types::*};

use super::{
    generate::{Chance, Generator, Whose},
    schema::{OfRevision, Spec},
    table::add_envelope,
};

/// How many values of each message go each way.
const VALUES: usize = 8;

type Carry = fn(&Method, &Raw, Revision, Revision) -> Result<Raw, Fault>;

/// Messages by the name of their definition, without `Request` and `Result`.
const CALLS: [(Method, &str); 8] = [
    (Method::ToolsList, "ListTools"),
    (Method::ToolsCall, "CallTool"),
    (Method::PromptsList, "ListPrompts"),
    (Method::PromptsGet, "GetPrompt"),
    (Method::ResourcesList, "ListResources"),
    (Method::TemplatesList, "ListResourceTemplates"),
    (Method::ResourcesRead, "ReadResource"),
    (Method::Complete, "Complete"),
];

const ASKS: [(Method, &str); 3] =
    [(Method::CreateMessage, "CreateMessage"), (Method::Elicit, "Elicit"), (Method::RootsList, "ListRoots")];

const NOTES: [(Method, &str); 7] = [
    (Method::Progress, "Progress"),
    (Method::Cancelled, "Cancelled"),
    (Method::Message, "LoggingMessage"),
    (Method::ToolsChanged, "ToolListChanged"),
    (Method::PromptsChanged, "PromptListChanged"),
    (Method::ResourcesChanged, "ResourceListChanged"),
    (Method::ResourceUpdated, "ResourceUpdated"),
];

/// Everything that a gateway carries, from every revision to every other.
pub(crate) fn carries_all(spec: &Spec) {
    for to in &spec.revisions {
        let way = Way { spec, to };
        for (method, name) in &CALLS {
            way.check(method, &format!("{name}Request/params"), conform_params);
            way.check(method, &format!("{name}Result"), conform_result);
        }
        for (method, name) in &ASKS {
            way.check(method, &format!("{name}Request/params"), conform_params);
            way.check(method, &format!("{name}Result"), conform_answer);
        }
        for (method, name) in &NOTES {
            way.check(method, &format!("{name}Notification/params"), conform_params);
        }
    }
}

struct Way<'s> {
    spec: &'s Spec,
    to: &'s OfRevision,
}

impl Way<'_> {
    fn check(&self, method: &Method, path: &str, carry: Carry) {
        let Some(validator) = self.to.validator(path) else { return };
        for (from, _) in self.spec.variants(path) {
            let seed = format!("{path} {from} {}", self.to.revision);
            let mut generator = Generator { spec: self.spec, chance: Chance::new(&seed) };
            let values = (0..VALUES).map(|_| generator.named(path, Whose::Only(from), 0));
            let carried = values.filter(|value| self.carries(method, path, carry, from, value, &validator)).count();
            assert!(carried > 0, "{path} from {from} to {} is always refused", self.to.revision);
        }
    }

    /// Whether the value is carried; it must then be valid.
    fn carries(
        &self,
        method: &Method,
        path: &str,
        carry: Carry,
        from: Revision,
        value: &Value,
        validator: &jsonschema::Validator,
    ) -> bool {
        let mut value = value.clone();
        if let Some(kind) = value.get_mut("resultType") {
            *kind = "complete".into();
        }
        let to = self.to.revision;
        let Ok(sent) = carry(method, &Raw::of(&value), from, to) else { return false };
        let mut sent: Value = sent.read().expect("what is carried is JSON");
        assert!(from != to || sent == value, "{path} of {from} is changed there");
        add_envelope(&mut sent, self.to, path);
        if let Some(error) = validator.iter_errors(&sent).next() {
            panic!("{path} from {from} to {to}: {error} at {}\nfrom {value}\nto {sent}", error.instance_path());
        }
        true
    }
}
