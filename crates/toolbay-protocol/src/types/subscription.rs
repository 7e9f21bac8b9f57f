//! Listening for changes (spec: 2026-07-28 basic/utilities/subscriptions).

use super::{Conform, Meta, ResultType, list::conform_result, meta::conform_meta, words::words};
use crate::revision::Revision;

words! {
    /// Which changes to be told of.
    #[derive(Default)]
    SubscriptionFilter {
        may {
            /// Of the tools.
            tools_list_changed: bool = "toolsListChanged",
            /// Of the prompts.
            prompts_list_changed: bool = "promptsListChanged",
            /// Of the list of resources.
            resources_list_changed: bool = "resourcesListChanged",
            /// Of these resources, by URI.
            resource_subscriptions: Vec<String> = "resourceSubscriptions",
            /// Of these tasks (extension).
            task_ids: Vec<String> = "taskIds",
        }
    }
}

words! {
    /// Parameters of `subscriptions/listen`.
    #[derive(Default)]
    ListenParams {
        need {
            /// Which changes.
            notifications: SubscriptionFilter = "notifications",
        }
        may {
            /// About the request.
            meta: Meta = "_meta",
        }
    }
}

words! {
    /// Parameters of `notifications/subscriptions/acknowledged`.
    #[derive(Default)]
    AcknowledgedParams {
        need {
            /// Which changes will be told of.
            notifications: SubscriptionFilter = "notifications",
        }
        may {
            /// About the notification; the subscription's id is in it.
            meta: Meta = "_meta",
        }
    }
}

words! {
    /// Result of `subscriptions/listen`: the server ends it in good order.
    #[derive(Default)]
    ListenResult {
        may {
            /// What this result is.
            result_type: ResultType = "resultType",
            /// About the result; the subscription's id is in it.
            meta: Meta = "_meta",
        }
    }
}

impl SubscriptionFilter {
    /// Whether it asks for nothing.
    pub fn is_empty(&self) -> bool {
        let Self {
            tools_list_changed,
            prompts_list_changed,
            resources_list_changed,
            resource_subscriptions,
            task_ids,
            rest,
        } = self;
        let lists = [tools_list_changed, prompts_list_changed, resources_list_changed];
        lists.into_iter().all(|list| *list != Some(true))
            && [resource_subscriptions, task_ids].into_iter().all(|names| names.as_ref().is_none_or(Vec::is_empty))
            && rest.is_empty()
    }
}

impl Conform for ListenParams {
    fn conform(&mut self, revision: Revision) {
        let Self { notifications: _, meta, rest: _ } = self;
        conform_meta(meta, revision);
    }
}

impl Conform for AcknowledgedParams {
    fn conform(&mut self, revision: Revision) {
        let Self { notifications: _, meta, rest: _ } = self;
        conform_meta(meta, revision);
    }
}

impl Conform for ListenResult {
    fn conform(&mut self, revision: Revision) {
        let Self { result_type, meta, rest: _ } = self;
        conform_result(result_type, meta, revision);
    }
}
