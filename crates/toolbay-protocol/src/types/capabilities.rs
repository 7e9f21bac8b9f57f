//! What each side can do. Capability objects are open: what we do not know is kept and forwarded.

use super::{Conform, Dict, words::words};
use crate::{
    method::TASKS,
    raw::Raw,
    revision::{Feature as F, Revision},
};

words! {
    /// What a client can do for its servers (spec: basic/lifecycle; 2026-07-28: in each request's `_meta`).
    #[derive(Default)]
    ClientCapabilities {
        may {
            /// Anything outside the spec.
            experimental: Dict<Raw> = "experimental",
            /// Lists its roots.
            roots: RootsCapability = "roots",
            /// Lends its model.
            sampling: SamplingCapability = "sampling",
            /// Asks its user.
            elicitation: ElicitationCapability = "elicitation",
            /// Runs sampling and elicitation as tasks (2025-11-25).
            tasks: TasksCapability = "tasks",
            /// Extensions by id, each with its settings.
            extensions: Dict<Raw> = "extensions",
        }
    }
}

words! {
    /// What a server offers.
    #[derive(Default)]
    ServerCapabilities {
        may {
            /// Anything outside the spec.
            experimental: Dict<Raw> = "experimental",
            /// Sends log messages.
            logging: Raw = "logging",
            /// Completes arguments.
            completions: Raw = "completions",
            /// Has prompts.
            prompts: ListCapability = "prompts",
            /// Has resources.
            resources: ResourcesCapability = "resources",
            /// Has tools.
            tools: ListCapability = "tools",
            /// Runs tool calls as tasks (2025-11-25).
            tasks: TasksCapability = "tasks",
            /// Extensions by id, each with its settings.
            extensions: Dict<Raw> = "extensions",
        }
    }
}

words! {
    /// How a client offers its roots.
    #[derive(Default)]
    RootsCapability {
        may {
            /// Whether it tells of changes (until 2025-11-25).
            list_changed: bool = "listChanged",
        }
    }
}

words! {
    /// How a client lends its model.
    #[derive(Default)]
    SamplingCapability {
        may {
            /// Honours `includeContext`.
            context: Raw = "context",
            /// Honours `tools` and `toolChoice`.
            tools: Raw = "tools",
        }
    }
}

words! {
    /// How a client asks its user; an empty object means forms only.
    #[derive(Default)]
    ElicitationCapability {
        may {
            /// With forms.
            form: Raw = "form",
            /// By sending the user to a URL.
            url: Raw = "url",
        }
    }
}

words! {
    /// What can run as a task of the 2025-11-25 core.
    #[derive(Default)]
    TasksCapability {
        may {
            /// Lists tasks.
            list: Raw = "list",
            /// Cancels tasks.
            cancel: Raw = "cancel",
            /// Which requests: `tools.call` and the like.
            requests: Dict<Dict<Raw>> = "requests",
        }
    }
}

words! {
    /// A list that may change.
    #[derive(Default)]
    ListCapability {
        may {
            /// Whether the server tells of changes.
            list_changed: bool = "listChanged",
        }
    }
}

words! {
    /// How a server offers its resources.
    #[derive(Default)]
    ResourcesCapability {
        may {
            /// Whether it tells of changes to one resource.
            subscribe: bool = "subscribe",
            /// Whether it tells of changes to the list.
            list_changed: bool = "listChanged",
        }
    }
}

impl ClientCapabilities {
    /// Whether the user can be asked with a form: an elicitation capability that names no mode means so.
    pub fn elicits_forms(&self) -> bool {
        // spec: client/elicitation
        self.elicitation.as_ref().is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
    }

    /// Whether the user can be sent to a URL.
    pub fn elicits_urls(&self) -> bool {
        self.elicitation.as_ref().is_some_and(|elicitation| elicitation.url.is_some())
    }

    /// Whether the model can be asked with tools.
    pub fn samples_with_tools(&self) -> bool {
        self.sampling.as_ref().is_some_and(|sampling| sampling.tools.is_some())
    }

    /// The settings of extension `id` where it is declared.
    pub fn extension(&self, id: &str) -> Option<&Raw> {
        self.extensions.as_ref()?.get(id)
    }
}

impl ServerCapabilities {
    /// The settings of extension `id` where it is declared.
    pub fn extension(&self, id: &str) -> Option<&Raw> {
        self.extensions.as_ref()?.get(id)
    }

    /// Whether it tells when its tools change.
    pub fn tells_of_tools(&self) -> bool {
        self.tools.as_ref().is_some_and(|tools| tools.list_changed == Some(true))
    }

    /// Whether it tells when its prompts change.
    pub fn tells_of_prompts(&self) -> bool {
        self.prompts.as_ref().is_some_and(|prompts| prompts.list_changed == Some(true))
    }

    /// Whether it tells when its list of resources changes.
    pub fn tells_of_resources(&self) -> bool {
        self.resources.as_ref().is_some_and(|resources| resources.list_changed == Some(true))
    }

    /// Whether it tells when one resource changes.
    pub fn takes_subscriptions(&self) -> bool {
        self.resources.as_ref().is_some_and(|resources| resources.subscribe == Some(true))
    }
}

impl Conform for ClientCapabilities {
    fn conform(&mut self, revision: Revision) {
        let Self { experimental: _, roots, sampling, elicitation, tasks, extensions, rest: _ } = self;
        // `extensions` stays everywhere: SEP-2133 has it in older handshakes too, and the object is open. But that of tasks
        // means nothing there (spec: tasks extension).
        if let Some(declared) = extensions.as_mut().filter(|_| !revision.has(F::Stateless)) {
            let had = declared.remove(TASKS).is_some();
            if had && declared.is_empty() {
                *extensions = None;
            }
        }
        if let Some(RootsCapability { list_changed, rest: _ }) = roots {
            revision.keep(F::Handshake, list_changed);
        }
        if let Some(SamplingCapability { context, tools, rest: _ }) = sampling {
            revision.keep(F::SamplingTools, context);
            revision.keep(F::SamplingTools, tools);
        }
        revision.keep(F::Elicitation, elicitation);
        if let Some(ElicitationCapability { form, url, rest: _ }) = elicitation {
            let no_form = form.is_none() && url.is_some();
            revision.keep(F::ElicitationModes, form);
            revision.keep(F::ElicitationModes, url);
            if no_form && !revision.has(F::ElicitationModes) {
                *elicitation = None; // there, declaring it at all promises forms
            }
        }
        revision.keep(F::CoreTasks, tasks);
    }
}

impl Conform for ServerCapabilities {
    fn conform(&mut self, revision: Revision) {
        let Self {
            experimental: _,
            logging: _,
            completions,
            prompts: _,
            resources: _,
            tools: _,
            tasks,
            extensions: _,
            rest: _,
        } = self;
        revision.keep(F::CompletionsCapability, completions);
        revision.keep(F::CoreTasks, tasks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_peers_are_promised_only_what_they_know() {
        let check = |text: &str, revision, expected: &str| {
            let capabilities: ClientCapabilities = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&capabilities.conformed(revision)).unwrap(), expected);
        };
        let text = r#"{"sampling":{"context":{},"tools":{}},"elicitation":{"form":{},"url":{}},"extensions":{"x/y":{}},"z":1}"#;
        check(text, Revision::V2025_11_25, text);
        check(text, Revision::V2025_06_18, r#"{"sampling":{},"elicitation":{},"extensions":{"x/y":{}},"z":1}"#);
        check(text, Revision::V2025_03_26, r#"{"sampling":{},"extensions":{"x/y":{}},"z":1}"#);
        check(r#"{"elicitation":{"url":{}}}"#, Revision::V2025_06_18, "{}");
        check(r#"{"elicitation":{}}"#, Revision::V2025_06_18, r#"{"elicitation":{}}"#);
    }
}
