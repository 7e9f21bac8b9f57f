//! Whether agents may look for servers that are not here: only where there is a file to add them to, and registries to ask.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use toolbay_gateway::{
    Bay,
    config::{Surroundings, System},
    registry::{
        Registry,
        acquire::{Acquirer, Settings},
        fetch,
    },
};

/// What is looked for, and how, at this moment.
pub(crate) struct Acquiring {
    bay: Bay,
    file: Option<PathBuf>,
    settings: Mutex<Settings>,
}

impl Acquiring {
    /// Begins with these settings.
    pub(crate) fn begin(bay: &Bay, file: Option<PathBuf>, settings: Settings) -> Self {
        let acquiring = Self { bay: bay.clone(), file, settings: Mutex::new(settings.clone()) };
        acquiring.apply(settings);
        acquiring
    }

    /// Goes on with others; whether they are others.
    pub(crate) fn take_on(&self, settings: Settings) -> bool {
        let before = {
            let mut held = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *held, settings.clone())
        };
        let changed = before != settings;
        if changed {
            self.apply(settings);
        }
        changed
    }

    fn apply(&self, settings: Settings) {
        let file = self.file.as_deref().filter(|_| !settings.sources.is_empty());
        self.bay.acquire_by(file.map(|file| acquirer(file, settings)));
    }
}

fn acquirer(file: &Path, settings: Settings) -> Acquirer {
    let variable = |name: &str| std::env::var(name).ok();
    let around = Surroundings { folder: Path::new("/"), system: System::here(), variable: &variable };
    let cache = around.cache_folder().map(|folder| folder.join("registries"));
    Acquirer::start(settings, fetch::over_http(), Arc::new(SystemTime::now), Registry::at(file), cache)
}
