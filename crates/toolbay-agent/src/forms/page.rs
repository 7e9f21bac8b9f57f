//! A page that a server wants visited, as it is shown before anybody agrees. It is opened by nobody here.

use toolbay_gateway::config::Url;

/// A page, taken apart so that nothing in its address passes for something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The address, whole, with what cannot be seen or looks like other letters escaped.
    pub address: String,
    /// The host that is asked, with its port where it is not the usual one.
    pub host: String,
    /// What a person should know of it before they agree.
    pub warnings: Vec<String>,
}

impl Page {
    /// Reads an address; an error says why it is not to be opened.
    pub fn read(url: &str) -> Result<Self, String> {
        if url.chars().any(|letter| letter.is_control() || letter.is_whitespace()) {
            return Err("the address holds spaces or control characters".into());
        }
        let after = url.split_once("://").map(|(_, after)| after).ok_or("it is no address of a page")?;
        let authority = after.split(['/', '?', '#', '\\']).next().unwrap_or_default();
        if let Some((before, _)) = authority.rsplit_once('@') {
            let before = escaped(before);
            return Err(format!(
                "its host is not {before:?}, though it begins with that: it hides another behind an @"
            ));
        }
        let read = Url::parse(url).map_err(|why| why.to_string())?;
        let host = read.uri().authority().map(|authority| authority.as_str().to_lowercase());
        let host = host.ok_or("it has no host")?;
        let mut warnings = vec![];
        if read.uri().scheme_str() == Some("http") && !is_here(&host) {
            warnings.push("it is not encrypted (http)".to_owned());
        }
        if host.split('.').any(|label| label.starts_with("xn--")) {
            warnings.push("its host is written in letters that can look like others (xn--)".to_owned());
        }
        Ok(Self { address: escaped(url), host: escaped(&host), warnings })
    }
}

fn is_here(host: &str) -> bool {
    let name =
        host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|b| b.is_ascii_digit())).map_or(host, |it| it.0);
    matches!(name, "localhost" | "127.0.0.1" | "[::1]")
}

/// Letters beyond ASCII as what they are: in an address none of them is needed.
fn escaped(text: &str) -> String {
    text.chars()
        .flat_map(|letter| if letter.is_ascii() { vec![letter] } else { letter.escape_unicode().collect() })
        .collect()
}
