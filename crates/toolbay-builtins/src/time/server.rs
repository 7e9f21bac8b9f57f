//! The clock as a server, with the tools of the well-known time server.

use serde::{Deserialize, Serialize};
use toolbay::{Json, JsonSchema, Server, Tool, ToolError, schemars};

use super::{Conversion, Moment, Timestamp, Zone, convert, now};

/// Serves what time it is.
pub fn server() -> Server {
    let local = Zone::local();
    let about = format!("Time zones are named as IANA does, such as Asia/Shanghai; the local one is {}.", local.name());
    let current = Tool::new("get_current_time", "Tells the current time in a time zone", current_time);
    let conversion = Tool::new("convert_time", "Converts a time of day from one time zone to another", convert_time);
    Server::new("time", env!("CARGO_PKG_VERSION"))
        .title("Time here and elsewhere")
        .instructions(about)
        .tool(current.read_only().closed_world())
        .tool(conversion.read_only().closed_world())
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct CurrentTime {
    /// IANA name such as Asia/Shanghai; the local time zone where nothing is given.
    timezone: Option<String>,
}

async fn current_time(args: CurrentTime) -> Result<Json<MomentSaid>, ToolError> {
    Ok(Json(now(&zone(args.timezone.as_deref())?, Timestamp::now()).into()))
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct ConvertTime {
    /// Where the time is given, as an IANA name; the local time zone where nothing is given.
    source_timezone: Option<String>,
    /// The time of day as HH:MM, with hours from 00 to 23.
    time: String,
    /// Where it is wanted, as an IANA name; the local time zone where nothing is given.
    target_timezone: Option<String>,
}

async fn convert_time(args: ConvertTime) -> Result<Json<ConversionSaid>, ToolError> {
    let (source, target) = (zone(args.source_timezone.as_deref())?, zone(args.target_timezone.as_deref())?);
    let converted = convert(&source, &args.time, &target, Timestamp::now());
    Ok(Json(converted.map_err(|error| ToolError::new(error.to_string()))?.into()))
}

fn zone(name: Option<&str>) -> Result<Zone, ToolError> {
    let named = |name: &str| Zone::named(name).map_err(|error| ToolError::new(error.to_string()));
    name.filter(|name| !name.trim().is_empty()).map_or_else(|| Ok(Zone::local()), named)
}

/// A moment as it is answered.
#[derive(Serialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct MomentSaid {
    /// IANA name of the time zone.
    timezone: String,
    /// ISO 8601 with the offset.
    datetime: String,
    /// English name of the day.
    day_of_week: String,
    /// Whether daylight saving time is in force.
    is_dst: bool,
}

/// A conversion as it is answered.
#[derive(Serialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct ConversionSaid {
    /// Where the time was given.
    source: MomentSaid,
    /// The same moment where it was wanted.
    target: MomentSaid,
    /// How far the target's clock is ahead.
    time_difference: String,
}

impl From<Moment> for MomentSaid {
    fn from(moment: Moment) -> Self {
        let Moment { timezone, datetime, day_of_week, is_dst } = moment;
        Self { timezone, datetime, day_of_week, is_dst }
    }
}

impl From<Conversion> for ConversionSaid {
    fn from(conversion: Conversion) -> Self {
        let Conversion { source, target, time_difference } = conversion;
        Self { source: source.into(), target: target.into(), time_difference }
    }
}
