//! Tasks of the 2025-11-25 core (spec: 2025-11-25 basic/utilities/tasks).

use super::{
    Conform, Meta, Number,
    meta::conform_meta,
    words::{choices, words},
};
use crate::revision::Revision;

choices! {
    /// Where a task stands; the last three are final.
    TaskStatus {
        /// It runs.
        Working = "working",
        /// It waits for answers.
        InputRequired = "input_required",
        /// It is done.
        Completed = "completed",
        /// It went wrong.
        Failed = "failed",
        /// It was taken back.
        Cancelled = "cancelled",
    }
}

words! {
    /// Asks for a request to run as a task.
    #[derive(Default)]
    TaskMetadata {
        may {
            /// How long to keep it, in milliseconds.
            ttl: Number = "ttl",
        }
    }
}

words! {
    /// A request that outlives its answer. Also the whole result of `tasks/get` and `tasks/cancel`, and the parameters of
    /// `notifications/tasks/status`.
    Task {
        need {
            /// Names it.
            task_id: String = "taskId",
            /// Where it stands.
            status: TaskStatus = "status",
            /// When it began, as ISO 8601.
            created_at: String = "createdAt",
            /// When it last changed, as ISO 8601.
            last_updated_at: String = "lastUpdatedAt",
            /// How long it is kept, in milliseconds; `null` means for ever.
            ttl: Option<Number> = "ttl",
        }
        may {
            /// Why it stands there, for people.
            status_message: String = "statusMessage",
            /// How long to wait before asking again, in milliseconds.
            poll_interval: Number = "pollInterval",
            /// About the message; only where the task is all of it.
            meta: Meta = "_meta",
        }
    }
}

words! {
    /// Result of a request that now runs as a task.
    CreateTaskResult {
        need {
            /// The task.
            task: Task = "task",
        }
        may {
            /// About the result.
            meta: Meta = "_meta",
        }
    }
}

words! {
    /// Parameters that name a task: of `tasks/get`, `tasks/result` and `tasks/cancel`.
    #[derive(Default)]
    TaskParams {
        need {
            /// Which task.
            task_id: String = "taskId",
        }
        may {
            /// About the request.
            meta: Meta = "_meta",
        }
    }
}

words! {
    /// Result of `tasks/list`.
    #[derive(Default)]
    ListTasksResult {
        need {
            /// One page of them.
            tasks: Vec<Task> = "tasks",
        }
        may {
            /// Where the next page begins; opaque.
            next_cursor: String = "nextCursor",
            /// About the result.
            meta: Meta = "_meta",
        }
    }
}

words! {
    /// What `_meta` says about the task a message belongs to.
    #[derive(Default)]
    RelatedTask {
        need {
            /// Which task.
            task_id: String = "taskId",
        }
    }
}

impl TaskStatus {
    /// Whether nothing can follow.
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

impl Conform for TaskMetadata {
    fn conform(&mut self, _: Revision) {
        let Self { ttl: _, rest: _ } = self;
    }
}

impl Conform for Task {
    fn conform(&mut self, revision: Revision) {
        let Self {
            task_id: _,
            status: _,
            created_at: _,
            last_updated_at: _,
            ttl: _,
            status_message: _,
            poll_interval: _,
            meta,
            rest: _,
        } = self;
        conform_meta(meta, revision);
    }
}

impl Conform for CreateTaskResult {
    fn conform(&mut self, revision: Revision) {
        let Self { task, meta, rest: _ } = self;
        task.conform(revision);
        conform_meta(meta, revision);
    }
}

impl Conform for TaskParams {
    fn conform(&mut self, revision: Revision) {
        let Self { task_id: _, meta, rest: _ } = self;
        conform_meta(meta, revision);
    }
}

impl Conform for ListTasksResult {
    fn conform(&mut self, revision: Revision) {
        let Self { tasks, next_cursor: _, meta, rest: _ } = self;
        tasks.conform(revision);
        conform_meta(meta, revision);
    }
}
