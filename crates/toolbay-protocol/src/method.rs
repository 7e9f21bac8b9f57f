//! One row per method: its name, what it is, who may send it, and which revisions know it.

use std::fmt;

use crate::revision::{Feature, Revision};
use crate::scan::unquote;

/// Who sends a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// Client to server.
    Client,
    /// Server to client; in the modern era only as a value inside `input_required`.
    Server,
    /// Either way.
    Both,
}

/// What a message wants back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// An answer.
    Request,
    /// Nothing.
    Notification,
}

/// Which revisions know a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// All of them.
    Always,
    /// Those that carry a feature.
    With(Feature),
    /// None: it belongs to an extension that both ends must have declared.
    Extension(&'static str),
}

macro_rules! methods {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal, $sort:ident, $sender:ident, $span:expr;)*) => {
        /// A method, known or not.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum Method {
            $($(#[doc = $doc])+ $variant,)*
            /// A method that no revision and no extension of ours knows.
            Other(Box<str>),
        }

        impl Method {
            /// Every known method.
            pub const KNOWN: &'static [Self] = &[$(Self::$variant),*];

            /// The method that `name` names, matched exactly.
            pub fn parse(name: &str) -> Self {
                match name {
                    $($name => Self::$variant,)*
                    other => Self::Other(other.into()),
                }
            }

            /// The same for a name that is quoted.
            pub(crate) fn quoted(quoted: &[u8]) -> Self {
                let bare = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
                match std::str::from_utf8(bare) {
                    Ok(bare) if !bare.contains('\\') => Self::parse(bare),
                    Ok(_) | Err(_) => Self::parse(&unquote(quoted)),
                }
            }

            /// The name on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $name,)*
                    Self::Other(name) => name,
                }
            }

            fn row(&self) -> Option<(Sort, Sender, Span)> {
                match self {
                    $(Self::$variant => Some((Sort::$sort, Sender::$sender, $span)),)*
                    Self::Other(_) => None,
                }
            }
        }
    };
}

use Feature::{CoreTasks, Elicitation, ElicitationIds, Handshake, Stateless};
use Span::{Always, Extension, With};

/// The extension for long calls that outlive their request.
pub const TASKS: &str = "io.modelcontextprotocol/tasks";
/// The extension for skills.
pub const SKILLS: &str = "io.modelcontextprotocol/skills";

methods! {
    /// Opens a legacy session.
    Initialize = "initialize", Request, Client, With(Handshake);
    /// Asks whether the other side is there.
    Ping = "ping", Request, Both, With(Handshake);
    /// Asks what a server is and can.
    Discover = "server/discover", Request, Client, With(Stateless);
    /// Lists tools.
    ToolsList = "tools/list", Request, Client, Always;
    /// Calls a tool.
    ToolsCall = "tools/call", Request, Client, Always;
    /// Lists resources.
    ResourcesList = "resources/list", Request, Client, Always;
    /// Lists resource templates.
    TemplatesList = "resources/templates/list", Request, Client, Always;
    /// Reads a resource.
    ResourcesRead = "resources/read", Request, Client, Always;
    /// Asks to be told when a resource changes.
    Subscribe = "resources/subscribe", Request, Client, With(Handshake);
    /// Takes that back.
    Unsubscribe = "resources/unsubscribe", Request, Client, With(Handshake);
    /// Lists prompts.
    PromptsList = "prompts/list", Request, Client, Always;
    /// Fills in a prompt.
    PromptsGet = "prompts/get", Request, Client, Always;
    /// Completes an argument.
    Complete = "completion/complete", Request, Client, Always;
    /// Sets how much a session logs.
    SetLevel = "logging/setLevel", Request, Client, With(Handshake);
    /// Listens for changes.
    Listen = "subscriptions/listen", Request, Client, With(Stateless);
    /// Reads a task.
    TasksGet = "tasks/get", Request, Both, With(CoreTasks);
    /// Waits for a task's result.
    TasksResult = "tasks/result", Request, Both, With(CoreTasks);
    /// Lists tasks.
    TasksList = "tasks/list", Request, Both, With(CoreTasks);
    /// Cancels a task.
    TasksCancel = "tasks/cancel", Request, Both, With(CoreTasks);
    /// Answers what a task asks.
    TasksUpdate = "tasks/update", Request, Client, Extension(TASKS);
    /// Lists skills.
    SkillsList = "skills/list", Request, Client, Extension(SKILLS);
    /// Reads a skill.
    SkillsGet = "skills/get", Request, Client, Extension(SKILLS);
    /// Lists the children of a directory resource.
    DirectoryRead = "resources/directory/read", Request, Client, Extension(SKILLS);
    /// Asks the client's model.
    CreateMessage = "sampling/createMessage", Request, Server, Always;
    /// Asks for the client's roots.
    RootsList = "roots/list", Request, Server, Always;
    /// Asks the user.
    Elicit = "elicitation/create", Request, Server, With(Elicitation);
    /// Closes the handshake.
    Initialized = "notifications/initialized", Notification, Client, With(Handshake);
    /// Takes a request back.
    Cancelled = "notifications/cancelled", Notification, Both, Always;
    /// Tells how far a request is.
    Progress = "notifications/progress", Notification, Both, Always;
    /// A line of log.
    Message = "notifications/message", Notification, Server, Always;
    /// The tools changed.
    ToolsChanged = "notifications/tools/list_changed", Notification, Server, Always;
    /// The prompts changed.
    PromptsChanged = "notifications/prompts/list_changed", Notification, Server, Always;
    /// The resources changed.
    ResourcesChanged = "notifications/resources/list_changed", Notification, Server, Always;
    /// A resource changed.
    ResourceUpdated = "notifications/resources/updated", Notification, Server, Always;
    /// The roots changed.
    RootsChanged = "notifications/roots/list_changed", Notification, Client, With(Handshake);
    /// An elicitation by URL came to its end.
    ElicitationComplete = "notifications/elicitation/complete", Notification, Server, With(ElicitationIds);
    /// A task changed (core tasks).
    TaskStatus = "notifications/tasks/status", Notification, Both, With(CoreTasks);
    /// What a `subscriptions/listen` will be told.
    Acknowledged = "notifications/subscriptions/acknowledged", Notification, Server, With(Stateless);
    /// A task changed (extension).
    Tasks = "notifications/tasks", Notification, Server, Extension(TASKS);
}

impl Method {
    /// What it wants back; `None` for an unknown method.
    pub fn sort(&self) -> Option<Sort> {
        self.row().map(|(sort, ..)| sort)
    }

    /// Who may send it; `None` for an unknown method.
    pub fn sender(&self) -> Option<Sender> {
        self.row().map(|(_, sender, _)| sender)
    }

    /// Whether `revision` knows it as part of its core.
    pub fn lives_in(&self, revision: Revision) -> bool {
        match self.row() {
            Some((.., Span::Always)) => true,
            Some((.., Span::With(feature))) => revision.has(feature),
            Some((.., Span::Extension(_))) | None => false,
        }
    }

    /// Whether it belongs to the core of other revisions and means nothing in this one.
    pub fn is_foreign_to(&self, revision: Revision) -> bool {
        let extended = matches!(self, Self::TasksGet | Self::TasksCancel);
        matches!(self.row(), Some((.., Span::With(feature))) if !revision.has(feature)) && !extended
    }

    /// Whether its result may be `input_required` (spec: basic/patterns/mrtr).
    pub fn may_ask(&self) -> bool {
        matches!(self, Self::ToolsCall | Self::PromptsGet | Self::ResourcesRead)
    }

    /// Whether its result carries cache hints (spec: server/utilities/caching).
    pub fn is_cacheable(&self) -> bool {
        matches!(
            self,
            Self::Discover
                | Self::ToolsList
                | Self::PromptsList
                | Self::ResourcesList
                | Self::TemplatesList
                | Self::ResourcesRead
        )
    }

    /// The member of `params` that the header `Mcp-Name` repeats.
    pub fn named_by(&self) -> Option<&'static str> {
        match self {
            Self::ToolsCall | Self::PromptsGet => Some("name"),
            Self::ResourcesRead => Some("uri"),
            Self::TasksGet | Self::TasksUpdate | Self::TasksCancel => Some("taskId"),
            _ => None,
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_variants_are_one_to_one() {
        for method in Method::KNOWN {
            assert_eq!(&Method::parse(method.as_str()), method);
            let notification = method.as_str().starts_with("notifications/");
            assert_eq!(method.sort() == Some(Sort::Notification), notification, "{method}");
        }
        assert_eq!(Method::parse("Tools/Call"), Method::Other("Tools/Call".into()));
    }

    #[test]
    fn the_modern_era_has_no_handshake_words() {
        for method in [Method::Initialize, Method::Ping, Method::SetLevel, Method::Subscribe, Method::Unsubscribe] {
            assert!(!method.lives_in(Revision::LATEST) && method.lives_in(Revision::LATEST_LEGACY), "{method}");
        }
        assert!(Method::Discover.lives_in(Revision::LATEST));
    }
}
