//! Properties filled, and what is missing.

use std::cell::RefCell;

use serde_json::{Map, Value};

use super::form::{self, End};
use super::property::{Property, Shape, properties, required};
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
    let request = Request { slots, text, small: text.to_lowercase(), root: schema, used: RefCell::default() };
    request.fill(object, Depth::Top)
}

struct Request<'r> {
    slots: &'r [Slot],
    text: &'r str,
    small: String,
    root: &'r Value,
    /// What was given to a property already: what was said once is not said twice.
    used: RefCell<Vec<Given>>,
}

/// A slot that was given, and what of it.
type Given = (usize, Of);

/// What of a slot is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Whole,
    /// Of a date, where it begins or ends, and in which form: a day and a time of day may go to two properties.
    Begin(Form),
    End(Form),
}

/// In which form a date is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Day,
    Clock,
    Said,
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
            } else if let Some(default) = property.default.filter(|_| property.required) {
                fit.arguments.insert(property.name.to_owned(), default.clone());
            } else if property.required {
                let description = property.description.map(str::to_owned);
                fit.missing.push(Missing { name: property.name.to_owned(), description });
            }
        }
        // What is required and nowhere described is required all the same.
        let described = |name: &str| rows.iter().any(|property| property.name == name);
        let undescribed = required(object).filter(|name| !described(name));
        fit.missing.extend(undescribed.map(|name| Missing { name: name.to_owned(), description: None }));
        fit
    }

    /// An object within the object: it is made where something is known of it, and must be complete where it is required.
    fn nest(&self, property: &Property<'_>, fit: &mut Fit) {
        let inner = self.fill(property.schema, Depth::Nested);
        if let Some(default) = property.default.filter(|_| property.required && inner.arguments.is_empty()) {
            fit.arguments.insert(property.name.to_owned(), default.clone());
            return;
        }
        // What is required is there, though nothing need stand in it.
        let bare = property.required && inner.missing.is_empty();
        let said = !inner.arguments.is_empty() || bare;
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
            Role::Count => self.take(Kind::Count, Of::Whole, |slot| match slot.normal {
                Some(Normal::Number(number)) => Some(number),
                _ => None,
            }),
            Role::Days => self.of(Kind::Date).find_map(|(_, slot)| match slot.normal {
                Some(Normal::Days(first, last)) => Some(last.unix() - first.unix() + 1),
                _ => None,
            }),
            _ => None,
        }
    }

    fn texts(&self, property: &Property<'_>, role: Role, asked: &Asked) -> Vec<String> {
        let several = property.shape() == Shape::Texts;
        let first = |kinds: &[Kind]| self.first(kinds, several);
        let routed = asked.has(Role::Destination) || asked.has(Role::Origin);
        match role {
            Role::Origin => first(&[Kind::Origin]),
            // A tool that knows only the goal also takes the place that was asked about.
            Role::Destination if asked.has(Role::Origin) => first(&[Kind::Destination]),
            Role::Destination => first(&[Kind::Destination, Kind::Location]),
            Role::City if asked.has(Role::Spot) || routed => first(&[Kind::City]),
            Role::City => first(&[Kind::City, Kind::Location, Kind::Destination]),
            // Beside a city it is another thing than the city, and nothing says what.
            Role::Region if asked.has(Role::City) || asked.has(Role::Spot) || routed => vec![],
            Role::Region => first(&[Kind::City, Kind::Location]),
            Role::Spot if asked.has(Role::City) || routed => first(&[Kind::Location]),
            Role::Spot => first(&[Kind::Location, Kind::City, Kind::Destination]),
            Role::Query if asked.has(Role::City) || asked.has(Role::Spot) || routed => first(&[Kind::Query]),
            Role::Query => first(&[Kind::Query, Kind::Location, Kind::City]),
            Role::Said if self.used.borrow().contains(&(usize::MAX, Of::Whole)) => vec![],
            Role::Said => {
                self.used.borrow_mut().push((usize::MAX, Of::Whole));
                vec![self.text.trim().to_owned()]
            }
            Role::Date | Role::Since => self.dated(property, End::First),
            Role::Until => self.until(property),
            Role::Repeat => first(&[Kind::Repeat]),
            Role::Count | Role::Days => self.number(role).map(|number| number.to_string()).into_iter().collect(),
        }
    }

    /// The first date of which this form was not given yet.
    fn dated(&self, property: &Property<'_>, end: End) -> Vec<String> {
        let form = match form::wanted(property) {
            form::Wanted::Day => Form::Day,
            form::Wanted::Clock => Form::Clock,
            form::Wanted::Whole => Form::Said,
        };
        let of = if end == End::First { Of::Begin(form) } else { Of::End(form) };
        let value = self.take(Kind::Date, of, |slot| form::date(property, slot, end));
        value.into_iter().collect()
    }

    /// The end of a stretch, or a second date, unless that comes before the first: one day alone does not say until when.
    fn until(&self, property: &Property<'_>) -> Vec<String> {
        let stretch = self
            .of(Kind::Date)
            .find(|(_, slot)| matches!(slot.normal, Some(Normal::Days(..) | Normal::Clocks(..) | Normal::Moments(..))));
        let (first, second) = (self.of(Kind::Date).next(), self.of(Kind::Date).nth(1));
        let later = first.zip(second).filter(|((_, first), (_, second))| !form::is_before(second, first));
        let Some((at, slot)) = stretch.or(later.map(|(_, second)| second)) else { return vec![] };
        let mut used = self.used.borrow_mut();
        // One end is not the end of two things; and a second date that began something ends nothing.
        if used.iter().any(|(given, of)| *given == at && (matches!(of, Of::End(_)) || stretch.is_none())) {
            return vec![];
        }
        used.push((at, Of::End(Form::Said)));
        if stretch.is_none() {
            used.push((at, Of::Begin(Form::Said)));
        }
        form::date(property, slot, End::Last).into_iter().collect()
    }

    /// The first slot of a kind of which that was not given yet, and of which something can be made.
    fn take<T>(&self, kind: Kind, of: Of, make: impl Fn(&Slot) -> Option<T>) -> Option<T> {
        let mut used = self.used.borrow_mut();
        let free = |at: usize| !used.iter().any(|(given, what)| *given == at && (*what == of || overlaps(*what, of)));
        let (at, made) = self.of(kind).filter(|(at, _)| free(*at)).find_map(|(at, slot)| Some((at, make(slot)?)))?;
        used.push((at, of));
        Some(made)
    }

    /// The first of these kinds that is left, or all of its kind where a list is wanted.
    fn first(&self, kinds: &[Kind], several: bool) -> Vec<String> {
        let value = |slot: &Slot| Some(slot.value.clone());
        let of_kind = |kind: &Kind| -> Vec<String> {
            let one = || self.take(*kind, Of::Whole, value);
            match several {
                true => std::iter::from_fn(one).collect(),
                false => one().into_iter().collect(),
            }
        };
        kinds.iter().map(of_kind).find(|values| !values.is_empty()).unwrap_or_default()
    }

    fn of(&self, kind: Kind) -> impl Iterator<Item = (usize, &Slot)> {
        self.slots.iter().enumerate().filter(move |(_, slot)| slot.kind == kind)
    }

    /// The longest choice that the request names.
    fn chosen(&self, choices: &[&str]) -> Option<String> {
        let named = |choice: &&&str| match choice.is_ascii() && choice.len() <= SHORT {
            _ if FUNCTION.contains(choice) => false,
            // Short ones are words of the language as well: they want their own writing.
            true => is_named(self.text, choice),
            false => is_named(&self.small, &choice.to_lowercase()),
        };
        choices.iter().filter(named).max_by_key(|choice| choice.len()).map(|choice| (*choice).to_owned())
    }
}

/// Whether what of a date is wanted was given with what was given: its words say both its day and its time.
fn overlaps(given: Of, wanted: Of) -> bool {
    match (given, wanted) {
        (Of::Begin(given), Of::Begin(wanted)) | (Of::End(given), Of::End(wanted)) => {
            given == wanted || wanted == Form::Said || given == Form::Said && wanted != Form::Clock
        }
        _ => false,
    }
}

/// Choices of so many letters are taken in their own writing alone.
const SHORT: usize = 2;
/// Words that stand in any request.
const FUNCTION: [&str; 44] = [
    "and", "the", "for", "but", "not", "you", "are", "was", "has", "can", "how", "its", "our", "did", "a", "i", "is",
    "it", "in", "on", "at", "to", "of", "or", "as", "an", "am", "be", "by", "do", "go", "he", "if", "me", "my", "no",
    "so", "up", "us", "we", "hi", "ok", "s", "t",
];

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
