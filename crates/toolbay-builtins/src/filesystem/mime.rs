//! Media types by the end of a name: a guess that says how to show a file, never whether to trust it.

use std::path::Path;

/// The media type a name suggests, if any.
pub fn mime_of(path: &str) -> Option<&'static str> {
    let end = Path::new(path).extension()?.to_str()?.to_ascii_lowercase();
    TYPES.iter().find(|(ends, _)| ends.split(' ').any(|one| one == end)).map(|(_, mime)| *mime)
}

/// Whether files of this type are worth trying as text.
pub fn speaks_text(mime: &str) -> bool {
    mime.starts_with("text/")
        || mime.ends_with("+xml")
        || matches!(mime, "application/json" | "application/x-ndjson" | "application/xml" | "application/toml")
        || matches!(mime, "application/yaml" | "application/sql" | "application/x-sh")
}

const TYPES: [(&str, &str); 40] = [
    ("txt log ini cfg conf env rst lock", "text/plain"),
    ("md markdown", "text/markdown"),
    ("html htm", "text/html"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("tsv", "text/tab-separated-values"),
    ("js mjs cjs jsx", "text/javascript"),
    ("ts tsx mts", "text/x-typescript"),
    ("rs", "text/x-rust"),
    ("py pyi", "text/x-python"),
    ("go", "text/x-go"),
    ("java kt", "text/x-java"),
    ("c h", "text/x-c"),
    ("cc cpp cxx hpp", "text/x-c++"),
    ("rb php pl lua swift scala cs", "text/plain"),
    ("json jsonc map", "application/json"),
    ("jsonl ndjson", "application/x-ndjson"),
    ("xml xsd xsl", "application/xml"),
    ("yaml yml", "application/yaml"),
    ("toml", "application/toml"),
    ("sql", "application/sql"),
    ("sh bash zsh", "application/x-sh"),
    ("svg", "image/svg+xml"),
    ("png", "image/png"),
    ("jpg jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("ico", "image/x-icon"),
    ("bmp", "image/bmp"),
    ("avif", "image/avif"),
    ("mp3", "audio/mpeg"),
    ("wav", "audio/wav"),
    ("ogg oga", "audio/ogg"),
    ("flac", "audio/flac"),
    ("m4a", "audio/mp4"),
    ("mp4 m4v", "video/mp4"),
    ("webm", "video/webm"),
    ("pdf", "application/pdf"),
    ("zip jar", "application/zip"),
    ("gz tgz", "application/gzip"),
];
