//! What a person types into a field, as a value; and whether a value fits its field.

use serde_json::{Value, json};

use super::field::{Chosen, Field, Format, Kind};

impl Field {
    /// What was typed, as a value: nothing where nothing was typed and nothing is needed. An error can be acted on.
    ///
    /// A choice is typed as its number (from one), its title or its value, several of them with commas between.
    pub fn typed(&self, text: &str) -> Result<Option<Value>, String> {
        let text = text.trim();
        if text.is_empty() {
            return match (&self.default, self.required) {
                (Some(default), _) => Ok(Some(default.clone())),
                (None, false) => Ok(None),
                (None, true) => Err("it is needed".into()),
            };
        }
        let value = match &self.kind {
            Kind::Text { .. } => json!(text),
            Kind::Number { whole: true, .. } => json!(text.parse::<i64>().map_err(|_| "type a whole number")?),
            Kind::Number { whole: false, .. } => {
                let number: f64 = text.parse().map_err(|_| "type a number, such as 2.5")?;
                serde_json::Number::from_f64(number).map(Value::Number).ok_or("type a number, such as 2.5")?
            }
            Kind::Boolean => json!(yes_or_no(text).ok_or("type yes or no")?),
            Kind::One(of) => json!(chosen(of, text)?),
            Kind::Several { of, .. } => several(of, text)?,
        };
        self.check(&value).map(|()| Some(value))
    }

    /// Whether a value is one for this field.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        match (&self.kind, value) {
            (Kind::Text { least, most, format }, Value::String(text)) => {
                let long = text.chars().count() as u64;
                within(long as f64, least.map(|n| n as f64), most.map(|n| n as f64), "characters")?;
                format.map_or(Ok(()), |format| looks_like(format, text))
            }
            (Kind::Number { whole, least, most }, Value::Number(number)) => {
                let is = number.as_f64().ok_or("it is no number")?;
                if *whole && is.fract() != 0.0 {
                    return Err("it must be a whole number".into());
                }
                within(is, *least, *most, "")
            }
            (Kind::Boolean, Value::Bool(_)) => Ok(()),
            (Kind::One(of), Value::String(text)) => one_of(of, text),
            (Kind::Several { of, least, most }, Value::Array(values)) => {
                for value in values {
                    one_of(of, value.as_str().ok_or("each choice is a text")?)?;
                }
                within(values.len() as f64, least.map(|n| n as f64), most.map(|n| n as f64), "choices")
            }
            (Kind::Text { .. } | Kind::One(_), _) => Err("it must be a text".into()),
            (Kind::Number { .. }, _) => Err("it must be a number".into()),
            (Kind::Boolean, _) => Err("it must be true or false".into()),
            (Kind::Several { .. }, _) => Err("it must be a list of choices".into()),
        }
    }
}

fn yes_or_no(text: &str) -> Option<bool> {
    match text.to_lowercase().as_str() {
        "y" | "yes" | "true" | "1" | "是" => Some(true),
        "n" | "no" | "false" | "0" | "否" => Some(false),
        _ => None,
    }
}

/// By value, by title, by title whatever its case, by number: in this order, as a value may be a number itself.
fn chosen<'c>(of: &'c [Chosen], text: &str) -> Result<&'c str, String> {
    let lower = text.to_lowercase();
    let found = of
        .iter()
        .find(|choice| choice.value == text)
        .or_else(|| of.iter().find(|choice| choice.title == text))
        .or_else(|| {
            of.iter().find(|choice| choice.title.to_lowercase() == lower || choice.value.to_lowercase() == lower)
        })
        .or_else(|| of.get(text.parse::<usize>().ok()?.checked_sub(1)?));
    found.map(|choice| choice.value.as_str()).ok_or_else(|| format!("{text:?} is none of {}", listed(of)))
}

fn several(of: &[Chosen], text: &str) -> Result<Value, String> {
    let mut values = vec![];
    for word in text.split([',', '，']).map(str::trim).filter(|word| !word.is_empty()) {
        let value = chosen(of, word)?;
        if !values.contains(&value) {
            values.push(value);
        }
    }
    Ok(json!(values))
}

fn one_of(of: &[Chosen], text: &str) -> Result<(), String> {
    let known = of.iter().any(|choice| choice.value == text);
    if known { Ok(()) } else { Err(format!("{text:?} is none of {}", listed(of))) }
}

fn listed(of: &[Chosen]) -> String {
    let mut names: Vec<_> = of.iter().take(12).map(|choice| choice.title.as_str()).collect();
    if of.len() > names.len() {
        names.push("…");
    }
    names.join(", ")
}

fn within(is: f64, least: Option<f64>, most: Option<f64>, what: &str) -> Result<(), String> {
    let words = |bound: &str, limit: f64| format!("at {bound} {limit} {what}").trim_end().to_owned();
    match (least, most) {
        (Some(least), _) if is < least => Err(words("least", least)),
        (_, Some(most)) if is > most => Err(words("most", most)),
        _ => Ok(()),
    }
}

fn looks_like(format: Format, text: &str) -> Result<(), String> {
    let schema = json!({"type": "string", "format": format.word()});
    let options = jsonschema::options().should_validate_formats(true).build(&schema);
    let fits = options.is_ok_and(|validator| validator.is_valid(&json!(text)));
    if fits { Ok(()) } else { Err(format!("type {}", format.example())) }
}
