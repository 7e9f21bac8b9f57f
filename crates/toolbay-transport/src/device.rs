//! The header in which a client states on which of its user's devices it is. What that means is for a service to say.

use http::{HeaderMap, HeaderName};
use toolbay_protocol::{
    Fault,
    greeting::{Device, Introduction},
};

static HEADER: HeaderName = HeaderName::from_static(Device::HEADER);

/// What the headers state; a fault where that is no device, or stands there twice.
pub(crate) fn stated(headers: &HeaderMap) -> Result<Option<Device>, Fault> {
    let mut all = headers.get_all(&HEADER).iter();
    let Some(first) = all.next() else { return Ok(None) };
    if all.next().is_some() {
        return Err(Fault::params(format!("the header `{}` stands there twice", Device::HEADER)));
    }
    // What is no text is no device either.
    Device::parse(first.to_str().unwrap_or_default()).map(Some)
}

/// An introduction with what the headers state beside it.
pub(crate) fn noted(mut introduction: Introduction, headers: &HeaderMap) -> Result<Introduction, Fault> {
    if headers.contains_key(&HEADER) {
        introduction.device = Device::agreed(stated(headers)?, introduction.device.take())?;
    }
    Ok(introduction)
}
