//! What the host says in its own name, to the model and to the person.

pub(super) const LAST_ROUND: &str = "[host] This was the last round of calls. Answer now with what is known, and say what \
                                     is missing.";
pub(super) const NO_MORE: &str = "Not called: no more calls are made in this turn.";
pub(super) const CUT_OFF: &str = "Not called: the reply ended before this call was written in full. Write it again, \
                                  shorter.";
pub(super) const REFUSED: &str = "Not called: the reply ended in a refusal.";
pub(super) const CANCELLED: &str = "Cancelled by the person before it was done; it may have had an effect.";
pub(super) const NOT_BEGUN: &str = "Not called: the person cancelled the turn.";
pub(super) const UNKNOWN: &str = "Its end is not known: the conversation broke off. It may have had an effect.";
pub(super) const SILENT: &str = "The model gave no answer.";
pub(super) const STOPPED: &str = "The turn was cancelled.";

pub(super) fn too_many(most: usize) -> String {
    format!("Not called: a reply may want {most} calls, this one is beyond. Want it again in the next.")
}

pub(super) fn unaffordable(why: &str) -> String {
    format!("Not called: the budget of the conversation is spent ({why}).")
}

pub(super) fn denied(reason: &str) -> String {
    format!("Not called: {reason}")
}

pub(super) fn hint(name: &str, times: u32) -> String {
    format!(
        "[host] `{name}` was called {times} times with the same arguments and failed {times} times with the same error. Do \
         something else, or say what is missing."
    )
}

pub(super) fn enough(name: &str, times: u32) -> String {
    format!(
        "[host] `{name}` failed {times} times in the same way; no more calls are made. Answer with what is known, and say \
         what could not be done."
    )
}

pub(super) fn over_budget(why: &str) -> String {
    format!("The turn ends here: the budget of the conversation is spent ({why}). What was called so far is kept.")
}

pub(super) fn rounds(rounds: u32) -> String {
    format!("The turn ends after {rounds} rounds of calls, and the model gave no answer.")
}

pub(super) fn repeating() -> String {
    "The turn ends because the same call kept failing in the same way, and the model gave no answer.".into()
}

pub(super) fn failed(why: &str) -> String {
    format!("The model did not reply: {why}")
}
