//! Keeping a bay to the tool entries of its file, and saying what came of that.

use std::{path::Path, sync::Arc, time::SystemTime};

use toolbay_gateway::{
    Bay,
    registry::{
        Registry,
        hot::{self, Hot, News},
    },
};

use crate::{control, exit::Exit, reload, show};

/// Follows the entries of a file for a bay.
pub(super) fn follow(bay: &Bay, file: &Path) -> Result<Hot, Exit> {
    let here = std::env::current_dir().map_err(|error| Exit::config(format!("the current folder is gone: {error}")))?;
    let reader = hot::reader(file.to_path_buf(), here);
    Ok(Hot::follow(bay.clone(), Registry::at(file), reader, Arc::new(SystemTime::now), Arc::new(say)))
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
