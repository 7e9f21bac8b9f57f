//! Telling a collector what happens, where the environment asks for it.

use toolbay_gateway::{
    Bay, config,
    telemetry::{Exporting, Settings, Telemetry},
};

use crate::show;

fn say(what: &str) {
    eprintln!("{}", show::dim(&show::safe(&format!("telemetry: {what}"))));
}

/// What the environment asks for, and the file where the environment does not; what is wrong is said and passed over.
pub(super) fn wanted(written: &config::Telemetry) -> Option<Telemetry> {
    let environment = |name: &str| std::env::var(name).ok();
    let variable = |name: &str| written.variable(&environment, name);
    let (settings, remarks) = Settings::read(&variable, env!("CARGO_PKG_VERSION"));
    remarks.iter().for_each(|remark| say(remark));
    settings.map(Telemetry::new)
}

/// Begins to send it. Where that cannot be, nothing else suffers.
pub(super) fn export(telemetry: Option<&Telemetry>, bay: &Bay) -> Option<Exporting> {
    match telemetry?.export(bay, say) {
        Ok(exporting) => Some(exporting),
        Err(error) => {
            say(&format!("nothing is sent: {error}"));
            None
        }
    }
}
