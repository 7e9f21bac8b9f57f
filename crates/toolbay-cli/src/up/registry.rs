//! Keeping a bay to the tool entries of its file, and saying what came of that.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use toolbay_gateway::{
    Bay,
    config::{self, Loaded, Surroundings, System, Warning},
    registry::{
        Registry,
        hot::{Hot, News, Reader},
    },
    servers::Spec,
};

use crate::{control, exit::Exit, reload, show};

/// Follows the entries of a file for a bay.
pub(super) fn follow(bay: &Bay, file: &Path) -> Result<Hot, Exit> {
    let here = std::env::current_dir().map_err(|error| Exit::config(format!("the current folder is gone: {error}")))?;
    let (reading, told) = (file.to_path_buf(), Mutex::new(None::<Vec<Warning>>));
    let reader: Reader = Arc::new(move |text| {
        let variable = |name: &str| std::env::var(name).ok();
        let around = Surroundings { folder: &here, system: System::here(), variable: &variable };
        let Loaded { config, warnings, .. } = config::parse(text, &reading, &around)?;
        remark(&mut told.lock().unwrap_or_else(PoisonError::into_inner), warnings);
        Ok(config.servers.iter().map(Spec::configured).collect())
    });
    Ok(Hot::follow(bay.clone(), Registry::at(file), reader, Arc::new(SystemTime::now), Arc::new(say)))
}

/// Says what there is to say about the file and was not said of it before; what there was at the start, was.
fn remark(told: &mut Option<Vec<Warning>>, warnings: Vec<Warning>) {
    if let Some(told) = told {
        let new = |warning: &&Warning| !told.iter().any(|before| before.message == warning.message);
        for warning in warnings.iter().filter(new) {
            eprintln!("{}", show::dim(&show::safe(&warning.to_string())));
        }
    }
    *told = Some(warnings);
}

fn say(news: &News) {
    let what = match news {
        News::Changed(changes) => reload::told(&changes.iter().map(control::change).collect::<Vec<_>>()),
        News::Expired(names) => format!("the time of {} is over; taken out of the file", names.join(", ")),
        News::Broken(why) => format!("all goes on as it was: {why}"),
        News::Mended => "the file can be used again".into(),
        News::Stuck(why) => format!("entries whose time is over stay in the file: {why}"),
    };
    eprintln!("registry: {}", show::safe(&what).replace('\n', "\nregistry: "));
}
