//! What a server learns of our environment. Not for what the configuration gives it.

use std::ffi::{OsStr, OsString};

/// The variables a child inherits; everything else, tokens above all, stays here unless the configuration names it.
///
/// They are what the official SDKs pass (`HOME`, `LOGNAME`, `PATH`, `SHELL`, `TERM`, `USER`; on Windows the list of its own)
/// and what changes nothing but manners: language (`LANG`, `LANGUAGE`, `LC_*`), time zone (`TZ`), where temporary and cached
/// files go (`TMPDIR` and the XDG base folders), and where the certificates are that this machine trusts, without which
/// package runners fail behind many a company's proxy. Proxy variables may hold passwords and are not among them.
pub fn inherited() -> Vec<(OsString, OsString)> {
    std::env::vars_os().filter(|(name, value)| is_inherited(name) && !is_function(value)).collect()
}

fn is_inherited(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    if cfg!(windows) {
        return WINDOWS.iter().any(|known| known.eq_ignore_ascii_case(name));
    }
    name.starts_with("LC_") || OFFICIAL.contains(&name) || MANNERS.contains(&name)
}

/// Old shells pass functions as variables, and those are code.
fn is_function(value: &OsStr) -> bool {
    value.as_encoded_bytes().starts_with(b"()")
}

const OFFICIAL: [&str; 6] = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];

const MANNERS: [&str; 15] = [
    "CURL_CA_BUNDLE",
    "LANG",
    "LANGUAGE",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TZ",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_DIRS",
    "XDG_CONFIG_HOME",
    "XDG_DATA_DIRS",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
];

const WINDOWS: [&str; 14] = [
    "APPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
];

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_harmless_variables_are_inherited() {
        for name in ["HOME", "PATH", "LC_ALL", "LANG", "TMPDIR", "XDG_CACHE_HOME"] {
            assert!(is_inherited(OsStr::new(name)), "{name}");
        }
        for name in
            ["GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "HTTPS_PROXY", "SSH_AUTH_SOCK", "LD_PRELOAD", "path", "LC"]
        {
            assert!(!is_inherited(OsStr::new(name)), "{name}");
        }
        assert!(is_function(OsStr::new("() { :; }")));
    }
}
