//! `limits`, beside all servers and inside one: numbers by name, as the one table of limits has them.

use jsonc_parser::ast::{Object, Value};

use super::{
    error::{Error, Fault, Reason},
    keys,
    source::{At, Source},
    tree,
    warn::{Remarks, nearest},
    written::reason,
};
use crate::limits::{Limits, PerServer, ROWS, Row, Scope, row};

/// A limit as typed.
pub(super) type Limit = (&'static Row, At<f64>);

/// The limits of the gateway, as the file has them.
pub(super) fn gateway(root: &Object<'_>, source: &Source<'_>, remarks: &mut Remarks<'_>) -> Result<Limits, Error> {
    let mut limits = Limits::default();
    let written = root.properties.iter().find(|property| property.name.as_str() == "limits");
    let Some(written) = written.filter(|property| property.value.as_null_keyword().is_none()) else {
        return Ok(limits);
    };
    let wrong = |reason: Reason| Error {
        file: source.file.to_path_buf(),
        place: Some(reason.place),
        fault: Fault::Shape,
        problem: reason.problem,
        remedy: reason.remedy,
    };
    for (row, value) in read(&written.value, "", source, remarks).map_err(wrong)? {
        set(row, &value, &mut limits, source).map_err(wrong)?;
    }
    Ok(limits)
}

/// The limits of one server: its own where it has some, else those beside all servers.
pub(super) fn server(written: &[Limit], limits: &Limits, source: &Source<'_>) -> Result<PerServer, Reason> {
    let mut own = *limits;
    for (row, value) in written {
        if row.scope == Scope::Gateway {
            let problem = format!("`{}` is a limit of the gateway, not of a server", row.key);
            return Err(reason(source, value.at, problem, "move it to `limits` beside `mcpServers`"));
        }
        set(row, value, &mut own, source)?;
    }
    Ok(own.server)
}

fn set(row: &Row, value: &At<f64>, limits: &mut Limits, source: &Source<'_>) -> Result<(), Reason> {
    row.set(limits, value.value)
        .map_err(|remedy| reason(source, value.at, format!("the limit `{}` is out of range", row.key), remedy))
}

/// Reads an object of limits; a key that is none is a remark.
pub(super) fn read(
    value: &Value<'_>,
    whose: &str,
    source: &Source<'_>,
    remarks: &mut Remarks<'_>,
) -> Result<Vec<Limit>, Reason> {
    let Value::Object(object) = value else {
        let problem = format!("`limits` is {}", tree::kind(value));
        return Err(reason(source, tree::start(value), problem, r#"write an object, as { "pages": 100 }"#));
    };
    let mut limits: Vec<Limit> = vec![];
    for property in &object.properties {
        let (key, at) = (property.name.as_str(), tree::key_start(property));
        let Some(row) = row(key) else {
            if !keys::is_comment(key) {
                let near = nearest(key, ROWS.iter().map(|row| row.key));
                let near = near.map_or(" and is ignored".into(), |near| format!("; did you mean `{near}`?"));
                remarks.warn(at, format!("{whose}`limits.{key}` is not a known limit{near}"));
            }
            continue;
        };
        if limits.iter().any(|(before, _)| before.key == row.key) {
            return Err(reason(source, at, format!("the limit `{}` is given twice", row.key), "keep one"));
        }
        let number = property.value.as_number_lit().and_then(|number| number.value.parse().ok());
        let Some(number) = number else {
            let problem = format!("the limit `{}` is {}", row.key, tree::kind(&property.value));
            return Err(reason(source, tree::start(&property.value), problem, "write a number"));
        };
        limits.push((row, At { value: number, at: tree::start(&property.value) }));
    }
    Ok(limits)
}
