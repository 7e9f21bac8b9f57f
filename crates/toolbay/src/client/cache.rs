//! Results that may be kept for a while, as their server says (spec: server/utilities/caching).

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use toolbay_protocol::{Method, Raw, types::Number, watch::Change};

/// How many results are kept.
const MOST: usize = 256;
/// Nothing is kept longer.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Results that may be kept. It belongs to one client, so what is private stays with whom it was made for.
#[derive(Default)]
pub(crate) struct Cache(Mutex<HashMap<(Method, Raw), (Instant, Raw)>>);

impl Cache {
    fn kept(&self) -> MutexGuard<'_, HashMap<(Method, Raw), (Instant, Raw)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The result of this request, where it is still good.
    pub(crate) fn get(&self, method: &Method, params: &Raw, now: Instant) -> Option<Raw> {
        let kept = self.kept();
        let (until, result) = kept.get(&(method.clone(), params.clone()))?;
        (*until > now).then(|| result.clone())
    }

    /// Keeps a result as long as it says; not at all where it says nothing.
    pub(crate) fn keep(&self, method: &Method, params: &Raw, result: &Raw, now: Instant) {
        if !method.is_cacheable() {
            return;
        }
        let time = result.get("ttlMs").and_then(Number::read).and_then(|time| time.as_u64()).unwrap_or(0);
        if time == 0 {
            return;
        }
        let mut kept = self.kept();
        if kept.len() >= MOST {
            kept.retain(|_, (until, _)| *until > now);
        }
        if kept.len() < MOST {
            let until = now + Duration::from_millis(time).min(LONGEST);
            kept.insert((method.clone(), params.clone()), (until, result.clone()));
        }
    }

    /// Forgets what a change made stale.
    pub(crate) fn forget(&self, change: &Change) {
        self.kept().retain(|(method, params), _| match change {
            Change::Tools => *method != Method::ToolsList,
            Change::Prompts => *method != Method::PromptsList,
            Change::Resources => !matches!(method, Method::ResourcesList | Method::TemplatesList),
            Change::Updated(uri) => {
                *method != Method::ResourcesRead
                    || params.get("uri").as_ref().and_then(Raw::as_text).as_deref() != Some(uri)
            }
            // Nothing of a task is kept.
            Change::Task(_) | Change::Said(_) => true,
        });
    }

    /// Forgets all pages of a list.
    pub(crate) fn forget_list(&self, list: &Method) {
        self.kept().retain(|(method, _), _| method != list);
    }

    /// Forgets all.
    pub(crate) fn clear(&self) {
        self.kept().clear();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn results_are_kept_as_long_as_they_say_and_no_longer_than_nothing_changed() {
        // rules 119 and 120
        let (cache, now) = (Cache::default(), Instant::now());
        let keep = |ttl: serde_json::Value| {
            cache.clear();
            cache.keep(&Method::ToolsList, &Raw::EMPTY, &Raw::of(&json!({"ttlMs": ttl})), now);
        };
        let there =
            |after: u64| cache.get(&Method::ToolsList, &Raw::EMPTY, now + Duration::from_millis(after)).is_some();
        keep(json!(100));
        assert!(there(99) && !there(100));
        assert!(cache.get(&Method::ToolsList, &Raw::of(&json!({"cursor": ""})), now).is_none());
        cache.forget(&Change::Prompts);
        assert!(there(0));
        cache.forget(&Change::Tools);
        assert!(!there(0));
        for ttl in [json!(0), json!(-1), json!(null), json!("1")] {
            keep(ttl);
            assert!(!there(0));
        }
        keep(json!(u64::MAX));
        assert!(there(1_000) && !there(25 * 60 * 60 * 1000));
    }
}
