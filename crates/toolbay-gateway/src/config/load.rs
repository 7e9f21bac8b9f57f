//! Reads the file that was found and makes servers of it.

use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use super::{
    acquire, clients, embeddings,
    error::{Error, Fault},
    expose,
    find::{Choice, Found, find},
    host, limits,
    resolve::{one_with_own_names, resolve},
    running::Running,
    source::Source,
    surroundings::Surroundings,
    syntax, telemetry,
    warn::{Remarks, Warning},
    written,
};

/// A configuration, what there is to say about it, and where it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The servers; none if there is no file.
    pub config: Running,
    /// Remarks, in the order of the file.
    pub warnings: Vec<Warning>,
    /// The file that was read; none means that the embedded servers are meant.
    pub file: Option<PathBuf>,
}

/// Finds, reads and checks the configuration.
pub fn load(choice: &Choice, around: &Surroundings<'_>) -> Result<Loaded, Error> {
    match find(choice, around)? {
        Found::Nothing { .. } => Ok(Loaded { config: Running::default(), warnings: Vec::new(), file: None }),
        Found::File(file) => parse(&read(&file, around)?, &file, around),
    }
}

/// Checks a configuration that was already read; `file` is used in messages and to resolve folders.
pub fn parse(text: &str, file: &Path, around: &Surroundings<'_>) -> Result<Loaded, Error> {
    let source = Source::new(file, text);
    let mut remarks = Remarks::new(&source);
    let root = syntax::parse(&source)?;
    let sections = clients::sections(&root, &source, &mut remarks)?;
    let limits = limits::gateway(&root, &source, &mut remarks)?;
    let acquire = acquire::read(&root, &mut remarks);
    let expose = expose::read(&root, &mut remarks);
    let host = host::read(&root, &source, &mut remarks)?;
    let telemetry = telemetry::read(&root, &source, around, &mut remarks);
    let embeddings = embeddings::read(&root, &source, around, &mut remarks);
    let servers = written::read(&sections, clients::tools(&root), &source, &mut remarks)?;
    let mut servers: Vec<_> =
        servers.into_iter().map(|server| resolve(server, &limits, &source, around, &mut remarks)).collect();
    let mut warnings = remarks.finish();
    warnings.extend(one_with_own_names(&mut servers, &source));
    Ok(Loaded {
        config: Running { servers, limits, acquire, expose, telemetry, embeddings, host },
        warnings,
        file: Some(file.to_path_buf()),
    })
}

fn read(file: &Path, around: &Surroundings<'_>) -> Result<String, Error> {
    let error = |fault, problem: String, remedy: &str| Error {
        file: file.to_path_buf(),
        place: None,
        fault,
        problem,
        remedy: remedy.into(),
    };
    let bytes = read_capped(&around.folder.join(file), MOST_BYTES)
        .map_err(|why| error(Fault::Unreadable, format!("the file cannot be read ({why})"), unreadable_remedy(&why)))?;
    let Some(bytes) = bytes else {
        let problem = format!("the file is longer than {} MiB", MOST_BYTES >> 20);
        return Err(error(
            Fault::TooLarge,
            problem,
            "a configuration names servers and no more; is this the right file?",
        ));
    };
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(error(Fault::Encoding, "the file is UTF-16".into(), "save it as UTF-8"));
    }
    String::from_utf8(bytes).map_err(|why| {
        let problem = format!("the file is not UTF-8 (byte {})", why.utf8_error().valid_up_to());
        error(Fault::Encoding, problem, "save it as UTF-8")
    })
}

/// The bytes of a file, or nothing if there are more than `most`.
pub(super) fn read_capped(file: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    File::open(file)?.take(most + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

fn unreadable_remedy(why: &io::Error) -> &'static str {
    match why.kind() {
        io::ErrorKind::NotFound => "the link points nowhere; mend or remove it",
        io::ErrorKind::PermissionDenied => "give yourself the right to read it",
        io::ErrorKind::IsADirectory => "name a file, not a folder",
        _ => "check the file and its disk",
    }
}

/// The longest file that is read.
const MOST_BYTES: u64 = 4 << 20;
