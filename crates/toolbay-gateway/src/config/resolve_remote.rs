//! The part of resolving that makes an address and its headers of what was typed.

use http::{HeaderMap, HeaderName, HeaderValue};

use super::{error::Reason, resolve::Resolver, running::Remote, source::At, url::Url, written::Body};

impl Resolver<'_, '_> {
    pub(super) fn remote(&mut self, url: &At<String>, body: &Body) -> Result<Remote, Reason> {
        let ignored = body.args.first().map(|arg| arg.at).or(body.env.first().map(|(name, _)| name.at));
        if let Some(at) = ignored {
            self.warn(at, "`args` and `env` are ignored: the server is remote");
        }
        let filled = self.fill(url)?;
        let address = Url::parse(filled.value())
            .map_err(|why| self.reason(url.at, format!("`url`: {}", why.problem), why.remedy))?;
        if let Some(name) = address.secret_parameters().next() {
            let message = format!(
                "`{name}` in `url` looks secret, and addresses end up in logs; use `headers` if the server can"
            );
            self.warn(url.at, &message);
        }
        let headers = self.headers(&body.headers)?;
        let credentials = headers.keys().any(|name| SECRET_HEADERS.iter().any(|sign| name.as_str().contains(sign)));
        if credentials && !address.is_encrypted() && !address.is_loopback() {
            self.warn(url.at, "credentials are sent unencrypted; use https");
        }
        Ok(Remote { url: address, headers })
    }

    fn headers(&mut self, typed: &[(At<String>, At<String>)]) -> Result<HeaderMap, Reason> {
        let mut headers = HeaderMap::new();
        for (name, value) in typed {
            let Ok(key) = HeaderName::try_from(name.value.as_str()) else {
                let problem = format!("`{}` cannot be the name of a header", name.value.escape_debug());
                return Err(self.reason(name.at, problem, "use letters, digits and -"));
            };
            if OUR_HEADERS.contains(&key.as_str()) {
                let message = format!("the header `{}` is set by the protocol; yours is left out", name.value);
                self.remarks.note(name.at, self.of(&message));
                continue;
            }
            let filled = self.fill(value)?;
            let Ok(mut secret) = HeaderValue::from_str(filled.value()) else {
                let problem =
                    format!("the value of the header `{}` holds a line break or a control character", name.value);
                return Err(self.reason(value.at, problem, "look at the end of the variable's value"));
            };
            secret.set_sensitive(true);
            if headers.insert(key, secret).is_some() {
                let problem = format!("the header `{}` is given twice", name.value);
                return Err(self.reason(name.at, problem, "keep one; upper and lower case are the same here"));
            }
        }
        Ok(headers)
    }
}

/// Headers with such words in their names carry credentials.
const SECRET_HEADERS: [&str; 4] = ["authorization", "key", "token", "cookie"];
/// Headers the transport writes itself. spec: basic/transports
const OUR_HEADERS: [&str; 11] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "transfer-encoding",
];
