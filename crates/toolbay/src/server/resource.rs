//! Resources: one by its URI, many by a template, and lists that are made when they are asked for.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use serde_json::Value;
use toolbay_protocol::types::{self, Annotations, Dict, Icon, Number, ReadResourceResult};

use super::{
    arguments::{Given, Misfit},
    completion::{Complete, Completing, Completions, Suggestions},
    context::Ctx,
    handler::Handler,
    page::Page,
    resource_output::{Of, ResourceOutput},
};
use crate::{error::Result, uri_template::UriTemplate};

pub(crate) type ReadWork = Pin<Box<dyn Future<Output = Result<Option<ReadResourceResult>>> + Send>>;
pub(crate) type Read = Arc<dyn Fn(&Dict<String>, Of, &Ctx) -> Result<ReadWork, Misfit> + Send + Sync>;
pub(crate) type ListWork = Pin<Box<dyn Future<Output = Result<Page<types::Resource>>> + Send>>;
/// Makes a list when it is asked for.
pub(crate) type Lister = Arc<dyn Fn(Option<String>, Ctx) -> ListWork + Send + Sync>;
type Bind<S> = Box<dyn FnOnce(Arc<S>) -> Read + Send + Sync>;

fn bind<S, H, Shape>(handler: H) -> Bind<S>
where
    S: Send + Sync + 'static,
    H: Handler<S, Shape>,
    H::Output: ResourceOutput,
{
    Box::new(move |state| {
        Arc::new(move |texts: &Dict<String>, of: Of, cx: &Ctx| {
            let work = handler.run(Given::Texts(texts), &state, cx)?;
            Ok(Box::pin(async move { work.await.into_contents(&of) }) as ReadWork)
        })
    })
}

/// Something that can be read under one URI.
///
/// ```
/// use toolbay::Resource;
///
/// let config: Resource =
///     Resource::new("config://app", "config", || async { r#"{"debug":false}"# }).mime_type("application/json");
/// ```
pub struct Resource<S = ()> {
    pub(crate) words: types::Resource,
    bind: Bind<S>,
}

impl<S: Send + Sync + 'static> Resource<S> {
    /// The resource at `uri`, read by `handler`.
    ///
    /// # Panics
    /// Where `uri` is no URI: a scheme, a colon, and no blanks (spec: server/resources).
    #[track_caller]
    pub fn new<H, Shape>(uri: impl Into<String>, name: impl Into<String>, handler: H) -> Self
    where
        H: Handler<S, Shape>,
        H::Output: ResourceOutput,
    {
        let uri = uri.into();
        check_uri(&uri);
        Self { words: types::Resource::new(uri, name), bind: bind(handler) }
    }

    /// Its size in bytes.
    #[must_use]
    pub fn size(mut self, bytes: u64) -> Self {
        self.words.size = Some(Number::from(bytes));
        self
    }

    pub(crate) fn bound(self, state: Arc<S>) -> ResourceEntry {
        ResourceEntry { words: self.words, read: (self.bind)(state) }
    }
}

/// Many resources at once, by a URI with holes (RFC 6570): `orders://{id}`, `file:///{+path}`, `db://rows{?from,to}`.
///
/// The holes are the members of the handler's struct; numbers and such are read where its type says so.
pub struct Template<S = ()> {
    pub(crate) words: types::ResourceTemplate,
    pattern: UriTemplate,
    completions: Completions,
    bind: Bind<S>,
}

impl<S: Send + Sync + 'static> Template<S> {
    /// The resources whose URIs fit `template`, read by `handler`.
    ///
    /// # Panics
    /// Where `template` cannot be read, or has no hole for something that the handler cannot do without.
    #[track_caller]
    pub fn new<H, Shape>(template: impl Into<String>, name: impl Into<String>, handler: H) -> Self
    where
        H: Handler<S, Shape>,
        H::Output: ResourceOutput,
    {
        let template = template.into();
        let pattern = UriTemplate::parse(&template).unwrap_or_else(|flaw| panic!("{flaw}"));
        let schema = H::schema(&format!("template `{template}`"));
        let needed = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        for needed in needed {
            let hole = pattern.variables().any(|hole| hole == needed);
            assert!(hole, "template `{template}` has no hole for `{needed}`");
        }
        let words = types::ResourceTemplate::new(template, name);
        Self { words, pattern, completions: Completions::default(), bind: bind(handler) }
    }

    /// Completes the hole `variable` while it is typed.
    ///
    /// # Panics
    /// Where there is no such hole.
    #[must_use]
    #[track_caller]
    pub fn complete<F, Work>(mut self, variable: &str, complete: F) -> Self
    where
        F: Fn(Completing, Ctx) -> Work + Send + Sync + 'static,
        Work: Future + Send + 'static,
        Work::Output: Into<Suggestions>,
    {
        let known = self.pattern.variables().any(|known| known == variable);
        assert!(known, "template `{}` has no hole `{variable}`", self.words.uri_template);
        self.completions.put(variable, Complete::new(complete));
        self
    }

    pub(crate) fn bound(self, state: Arc<S>) -> TemplateEntry {
        let Self { words, pattern, completions, bind } = self;
        TemplateEntry { words, pattern, completions, read: bind(state) }
    }
}

macro_rules! described {
    ($($kind:ident),*) => {$(
        impl<S: Send + Sync + 'static> $kind<S> {
            /// What it is called for people.
            #[must_use]
            pub fn title(mut self, title: impl Into<String>) -> Self {
                self.words.title = Some(title.into());
                self
            }

            /// What it is.
            #[must_use]
            pub fn description(mut self, description: impl Into<String>) -> Self {
                self.words.description = Some(description.into());
                self
            }

            /// What reading it gives.
            #[must_use]
            pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
                self.words.mime_type = Some(mime_type.into());
                self
            }

            /// Who it is for, and how much it matters.
            #[must_use]
            pub fn annotations(mut self, annotations: Annotations) -> Self {
                self.words.annotations = Some(annotations);
                self
            }

            /// A picture of it; one more each time.
            #[must_use]
            pub fn icon(mut self, icon: Icon) -> Self {
                self.words.icons.get_or_insert_default().push(icon);
                self
            }
        }

        impl<S> fmt::Debug for $kind<S> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($kind)).field("name", &self.words.name).finish_non_exhaustive()
            }
        }
    )*};
}
described!(Resource, Template);

/// A resource that is served.
pub(crate) struct ResourceEntry {
    pub(crate) words: types::Resource,
    pub(crate) read: Read,
}

/// A template that is served.
pub(crate) struct TemplateEntry {
    pub(crate) words: types::ResourceTemplate,
    pub(crate) pattern: UriTemplate,
    pub(crate) completions: Completions,
    pub(crate) read: Read,
}

/// spec: server/resources, RFC 3986
#[track_caller]
fn check_uri(uri: &str) {
    let scheme = uri.split_once(':').map_or("", |(scheme, _)| scheme);
    let letters = scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    let plain = uri.bytes().all(|byte| byte > b' ' && byte < 0x7f);
    let fits = scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && letters && plain;
    assert!(fits, "a resource cannot have the URI {uri:?}: write scheme:rest, with %XX for blanks and other letters");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{JsonSchema, serde::Deserialize};

    #[derive(Deserialize, JsonSchema)]
    struct Row {
        table: String,
        id: Option<u32>,
    }

    #[test]
    fn a_template_with_a_hole_for_all_that_is_needed_is_taken() {
        let _: Template = Template::new("db://{table}", "row", |row: Row| async move { (row.table, row.id).0 });
    }

    #[test]
    #[should_panic(expected = "template `db://{tabel}` has no hole for `table`")]
    fn a_template_without_a_hole_for_what_is_needed_is_refused_at_once() {
        let _: Template = Template::new("db://{tabel}", "row", |row: Row| async move { row.table });
    }
}
