//! Properties filled, and what is missing.

use serde_json::{Map, Value};

use super::form::{self, End};
use super::property::{Property, Shape, properties};
use super::role::{Role, role};
use crate::slots::slot::{Kind, Normal, Slot};

/// Arguments made of a request, and what it left open.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fit {
    /// The arguments, by the names of the schema.
    pub arguments: Map<String, Value>,
    /// What the schema requires and the request does not say.
    pub missing: Vec<Missing>,
}

/// A property without which the tool cannot be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Its name; within a nested object, both names with a point between.
    pub name: String,
    /// What the schema says about it.
    pub description: Option<String>,
}

/// Makes a tool's arguments out of what a request says.
///
/// `text` is the request itself, in which values of enums are looked for. Nested objects are filled one level deep.
///
/// ```
/// use serde_json::json;
/// use toolbay_retrieval::slots::{fit, read};
///
/// let schema = json!({
///     "type": "object",
///     "properties": {"from": {"type": "string"}, "to": {"type": "string"}, "seat": {"enum": ["一等座", "二等座"], "description": "席别"}},
///     "required": ["from", "to", "seat"],
/// });
/// let text = "从青岛到苏州";
/// let fit = fit(&read(text, None), text, &schema);
/// assert_eq!(json!(fit.arguments), json!({"from": "青岛", "to": "苏州"}));
/// assert_eq!(fit.missing[0].name, "seat");
/// ```
#[must_use]
pub fn fit(slots: &[Slot], text: &str, schema: &Value) -> Fit {
    let Some(object) = schema.as_object() else { return Fit::default() };
    let request = Request { slots, text, small: text.to_lowercase(), root: schema };
    request.fill(object, Depth::Top)
}

struct Request<'r> {
    slots: &'r [Slot],
    text: &'r str,
    small: String,
    root: &'r Value,
}

/// How deep an object lies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Top,
    Nested,
}

/// What a schema as a whole asks for, which decides who gets a place.
struct Asked {
    roles: Vec<Option<Role>>,
}

impl Asked {
    fn has(&self, role: Role) -> bool {
        self.roles.contains(&Some(role))
    }
}

impl Request<'_> {
    fn fill(&self, object: &Map<String, Value>, depth: Depth) -> Fit {
        let rows = properties(object, self.root);
        let asked = Asked { roles: rows.iter().map(role).collect() };
        let mut fit = Fit::default();
        for (property, role) in rows.iter().zip(&asked.roles) {
            if property.shape() == Shape::Object && depth == Depth::Top {
                self.nest(property, &mut fit);
            } else if let Some(value) = self.value(property, *role, &asked) {
                fit.arguments.insert(property.name.to_owned(), value);
            } else if property.required {
                let description = property.description.map(str::to_owned);
                fit.missing.push(Missing { name: property.name.to_owned(), description });
            }
        }
        fit
    }

    /// An object within the object: it is made where something is known of it, and must be complete where it is required.
    fn nest(&self, property: &Property<'_>, fit: &mut Fit) {
        let inner = self.fill(property.schema, Depth::Nested);
        let said = !inner.arguments.is_empty();
        if said || property.required {
            let name = property.name;
            fit.missing
                .extend(inner.missing.into_iter().map(|one| Missing { name: format!("{name}.{}", one.name), ..one }));
        }
        if said {
            fit.arguments.insert(property.name.to_owned(), Value::Object(inner.arguments));
        }
    }

    fn value(&self, property: &Property<'_>, role: Option<Role>, asked: &Asked) -> Option<Value> {
        if let Some(only) = property.schema.get("const") {
            return Some(only.clone());
        }
        let choices = property.choices();
        if !choices.is_empty() {
            return self.chosen(&choices).and_then(|chosen| shaped(property, vec![chosen]));
        }
        match (property.shape(), role?) {
            (Shape::Number, role) => self.number(role).filter(|number| property.admits(*number)).map(Value::from),
            (Shape::Text | Shape::Texts, role) => shaped(property, self.texts(property, role, asked)),
            (Shape::Object | Shape::Other, _) => None,
        }
    }

    fn number(&self, role: Role) -> Option<i64> {
        match role {
            Role::Count => self.of(Kind::Count).find_map(|slot| match slot.normal {
                Some(Normal::Number(number)) => Some(number),
                _ => None,
            }),
            Role::Days => self.of(Kind::Date).find_map(|slot| match slot.normal {
                Some(Normal::Days(first, last)) => Some(last.unix() - first.unix() + 1),
                _ => None,
            }),
            _ => None,
        }
    }

    fn texts(&self, property: &Property<'_>, role: Role, asked: &Asked) -> Vec<String> {
        let routed = asked.has(Role::Destination) || asked.has(Role::Origin);
        match role {
            Role::Origin => self.first(&[Kind::Origin]),
            // A tool that knows only the goal also takes the place that was asked about.
            Role::Destination if asked.has(Role::Origin) => self.first(&[Kind::Destination]),
            Role::Destination => self.first(&[Kind::Destination, Kind::Location]),
            Role::City if asked.has(Role::Spot) || routed => self.first(&[Kind::City]),
            Role::City => self.first(&[Kind::City, Kind::Location, Kind::Destination]),
            Role::Spot if asked.has(Role::City) || routed => self.first(&[Kind::Location]),
            Role::Spot => self.first(&[Kind::Location, Kind::City, Kind::Destination]),
            Role::Query if asked.has(Role::City) || asked.has(Role::Spot) || routed => self.first(&[Kind::Query]),
            Role::Query => self.first(&[Kind::Query, Kind::Location, Kind::City]),
            Role::Said => vec![self.text.trim().to_owned()],
            Role::Date => self.dated(property, 0, End::First),
            Role::Since => self.dated(property, 0, End::First),
            Role::Until => self.until(property),
            Role::Repeat => self.first(&[Kind::Repeat]),
            Role::Count | Role::Days => self.number(role).map(|number| number.to_string()).into_iter().collect(),
        }
    }

    fn dated(&self, property: &Property<'_>, at: usize, end: End) -> Vec<String> {
        let slot = self.of(Kind::Date).nth(at);
        slot.and_then(|slot| form::date(property, slot, end)).into_iter().collect()
    }

    /// The second date said, or the end of a stretch: one day alone does not say until when.
    fn until(&self, property: &Property<'_>) -> Vec<String> {
        if self.of(Kind::Date).nth(1).is_some() {
            return self.dated(property, 1, End::Last);
        }
        let stretch =
            self.of(Kind::Date).any(|slot| matches!(slot.normal, Some(Normal::Days(..) | Normal::Clocks(..))));
        if stretch { self.dated(property, 0, End::Last) } else { Vec::new() }
    }

    /// All values of the first of these kinds of which there is one.
    fn first(&self, kinds: &[Kind]) -> Vec<String> {
        let values = |kind: &Kind| -> Vec<String> { self.of(*kind).map(|slot| slot.value.clone()).collect() };
        kinds.iter().map(values).find(|values| !values.is_empty()).unwrap_or_default()
    }

    fn of(&self, kind: Kind) -> impl Iterator<Item = &Slot> {
        self.slots.iter().filter(move |slot| slot.kind == kind)
    }

    /// The longest choice that the request names.
    fn chosen(&self, choices: &[&str]) -> Option<String> {
        let named = |choice: &&&str| is_named(&self.small, &choice.to_lowercase());
        choices.iter().filter(named).max_by_key(|choice| choice.len()).map(|choice| (*choice).to_owned())
    }
}

/// One text, or a list of them.
fn shaped(property: &Property<'_>, mut values: Vec<String>) -> Option<Value> {
    if values.is_empty() {
        return None;
    }
    match property.shape() {
        Shape::Texts => Some(Value::from(values)),
        _ => Some(Value::from(values.swap_remove(0))),
    }
}

/// Whether a text names a choice; a Latin one as a word of its own.
fn is_named(text: &str, choice: &str) -> bool {
    if choice.chars().count() < 2 {
        return false;
    }
    text.match_indices(choice).any(|(at, _)| {
        let letter = |char: Option<char>| char.is_some_and(|char| char.is_ascii_alphanumeric());
        !choice.is_ascii()
            || !letter(text[..at].chars().next_back()) && !letter(text[at + choice.len()..].chars().next())
    })
}
