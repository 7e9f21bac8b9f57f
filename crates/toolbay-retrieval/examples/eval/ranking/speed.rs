//! How long a query takes, and to put a tool in or take it out, on one core.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use toolbay_retrieval::{Index, Query, Tool};

use super::corpus::{Corpus, GROUPS, tools};
use crate::report::{Figure, Goal, Group};

/// Measures at two sizes of a catalog.
pub(super) fn measure(corpora: &Path) -> Result<Group> {
    let mut all = Vec::new();
    let mut queries = Vec::new();
    for set in GROUPS.iter().flat_map(|group| group.1) {
        let corpus = Corpus::read(corpora, set)?;
        queries.extend(corpus.queries.into_iter().step_by(3).map(|wanted| wanted.text));
    }
    for set in ["livemcp", "ace-zh", "ace-en", "seal", "stabletoolbench", "metatool", "ultra-zh", "ultra-en"] {
        all.extend(tools(corpora, set)?);
    }
    let mut figures = Vec::new();
    for (size, most) in [(3_000, 0.3), (100_000, 8.0)] {
        let tools = many(&all, size);
        let mut index = Index::new();
        tools.iter().for_each(|tool| index.insert(tool));
        let took = queries.iter().map(|text| {
            time(|| {
                index.search(&Query::new(text));
            })
        });
        figures.extend(both(&format!("query at {size} tools"), took.collect(), Goal::AtMost(most)));
        let (mut out, mut back) = (Vec::new(), Vec::new());
        for tool in tools.iter().step_by(size / 500) {
            out.push(time(|| {
                index.remove(&tool.id);
            }));
            back.push(time(|| index.insert(tool)));
        }
        figures.extend(both(&format!("taking a tool out of {size}"), out, Goal::AtMost(1.0)));
        figures.extend(both(&format!("putting a tool into {size}"), back, Goal::AtMost(1.0)));
    }
    Ok(Group { name: "ranking, time on one core".to_owned(), figures })
}

/// So many tools, taken in turn from all sets, told apart by id.
fn many(all: &[Tool], size: usize) -> Vec<Tool> {
    let step = 7919;
    (0..size)
        .map(|at| {
            let tool = &all[at * step % all.len()];
            Tool { id: format!("{at}:{}", tool.id), ..tool.clone() }
        })
        .collect()
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn both(name: &str, mut took: Vec<Duration>, goal: Goal) -> Vec<Figure> {
    took.sort();
    let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    vec![
        Figure { name: format!("{name}: p95 ms"), value: at(0.95), goal },
        Figure::shown(format!("{name}: p50 ms"), at(0.5)),
    ]
}
