//! Contents of files: text whole or from either end, and bytes.

use std::io::{self, Read as _, Seek as _, SeekFrom};

use cap_std::fs::File;
use serde::Serialize;

use super::{
    error::Error,
    mime::mime_of,
    root::{Root, shown, tell},
};

/// Which part of a text is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Whole,
    /// So many lines from the beginning.
    Head(usize),
    /// So many lines from the end.
    Tail(usize),
}

/// Text from a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Text {
    /// The file that was opened, relative to the served folder.
    pub path: String,
    /// The text.
    pub text: String,
    /// The size of the whole file in bytes.
    pub size: u64,
    /// The media type its name suggests.
    pub mime: &'static str,
    /// What is missing in the answer, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// All bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binary {
    /// The file that was opened, relative to the served folder.
    pub path: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The media type its name suggests.
    pub mime: &'static str,
}

impl Root {
    /// Text of a file; what is longer than the limit is cut, with a note.
    pub fn read_text(&self, path: &str, part: Part) -> Result<Text, Error> {
        let (mut file, metadata, opened) = self.open_file(path)?;
        let told = |why: io::Error| tell(path, &why);
        let limit = self.limits.bytes;
        let from = match part {
            Part::Whole | Part::Head(_) => 0,
            Part::Tail(_) => metadata.len().saturating_sub(limit),
        };
        if from > 0 {
            file.seek(SeekFrom::Start(from)).map_err(told)?;
        }
        let window = Window::read(&mut file, from, limit).map_err(told)?;
        let (bytes, at, short) = match part {
            Part::Whole => (window.bytes.as_slice(), 0, window.more),
            Part::Head(lines) => window.head(lines),
            Part::Tail(lines) => window.tail(lines),
        };
        let text = decode(bytes, short && !matches!(part, Part::Tail(_)))
            .map_err(|offset| Error::NotText { path: path.to_owned(), offset: from + (at + offset) as u64 })?;
        let note = short.then(|| short_note(part, limit, metadata.len()));
        let path = shown(&opened);
        let mime = mime_of(&path).unwrap_or("text/plain");
        Ok(Text { path, text: text.to_owned(), size: metadata.len(), mime, note })
    }

    /// All bytes of a file; a longer file than the limit is an error, since part of it would be of no use.
    pub fn read_bytes(&self, path: &str) -> Result<Binary, Error> {
        let (mut file, metadata, opened) = self.open_file(path)?;
        let limit = self.limits.bytes;
        let too_large = |size| Error::TooLarge { path: path.to_owned(), size, limit };
        if metadata.len() > limit {
            return Err(too_large(metadata.len()));
        }
        let window = Window::read(&mut file, 0, limit).map_err(|why| tell(path, &why))?;
        if window.more {
            // It grew, or its size is a fiction, as under /proc.
            return Err(too_large(metadata.len().max(limit + 1)));
        }
        let path = shown(&opened);
        let mime = mime_of(&path).unwrap_or("application/octet-stream");
        Ok(Binary { path, bytes: window.bytes, mime })
    }
}

fn short_note(part: Part, limit: u64, size: u64) -> String {
    match part {
        Part::Whole => format!("this is the first {limit} of {size} bytes; ask for the head or the tail to see more"),
        Part::Head(_) => format!("these are the first {limit} of {size} bytes, fewer lines than asked for"),
        Part::Tail(_) => format!("these are the last {limit} of {size} bytes, fewer lines than asked for"),
    }
}

/// The bytes of a file that were read, and whether there are others.
struct Window {
    bytes: Vec<u8>,
    /// There are bytes before these.
    earlier: bool,
    /// There are bytes after these.
    more: bool,
}

impl Window {
    fn read(file: &mut File, from: u64, limit: u64) -> io::Result<Self> {
        let mut bytes = Vec::new();
        file.take(limit + 1).read_to_end(&mut bytes)?;
        let more = bytes.len() as u64 > limit;
        if more {
            bytes.pop();
        }
        Ok(Self { bytes, earlier: from > 0, more })
    }

    /// The first lines, where they begin, and whether fewer were found than asked for.
    fn head(&self, lines: usize) -> (&[u8], usize, bool) {
        if lines == 0 {
            return (&[], 0, false);
        }
        let ends = self.bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        match ends.map(|(at, _)| at + 1).nth(lines - 1) {
            Some(end) => (&self.bytes[..end], 0, false),
            None => (&self.bytes, 0, self.more),
        }
    }

    /// The last lines, where they begin, and whether fewer were found than asked for.
    fn tail(&self, lines: usize) -> (&[u8], usize, bool) {
        if lines == 0 {
            return (&[], 0, false);
        }
        let ended = self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes);
        let ends = ended.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n');
        match ends.map(|(at, _)| at + 1).nth(lines - 1) {
            Some(start) => (&self.bytes[start..], start, false),
            None => {
                // The window may begin inside a character; its rest is left out.
                let inside = |byte: &&u8| self.earlier && **byte & 0b1100_0000 == 0b1000_0000;
                let start = self.bytes.iter().take(3).take_while(inside).count();
                (&self.bytes[start..], start, self.earlier)
            }
        }
    }
}

/// The text of `bytes`, or the first byte that is not UTF-8; of bytes cut short, the last character may be torn.
fn decode(bytes: &[u8], cut_short: bool) -> Result<&str, usize> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(why) if cut_short && why.error_len().is_none() => {
            std::str::from_utf8(&bytes[..why.valid_up_to()]).map_err(|_| why.valid_up_to())?
        }
        Err(why) => return Err(why.valid_up_to()),
    };
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}
