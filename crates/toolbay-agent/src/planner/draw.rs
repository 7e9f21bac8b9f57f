//! From a request to a plan.

use std::ops::Range;

use toolbay_retrieval::{
    Scorer,
    slots::{self, Kind, Slot},
};

use super::{
    arguments::Said,
    hints,
    matching::{Match, Shelf},
    meanings::Meanings,
    offered::Offered,
    parts::{self, Bond},
    plan::{Group, Plan},
    rules::{Reading, Rules},
    step::{Origin, Standing, Step},
};

/// Draws up plans over a set of tools.
#[derive(Clone, Debug)]
pub struct Planner {
    shelf: Shelf,
    rules: Rules,
}

/// A part of a request, with what it means.
struct Part {
    range: Range<usize>,
    slots: Vec<Slot>,
    matches: Vec<Match>,
}

impl Planner {
    /// A planner over these tools, by these rules.
    pub fn new(tools: Vec<Offered>, rules: Rules) -> Self {
        Self { shelf: Shelf::new(tools), rules }
    }

    /// The tools by name, with the text of each as a model is to read it.
    pub fn tools(&self) -> Vec<(String, String)> {
        self.shelf.texts()
    }

    /// The texts that are looked for when a request is planned, each once.
    pub fn texts(&self, request: &str) -> Vec<String> {
        let mut texts: Vec<String> = Vec::new();
        let pieces = parts::pieces(request).into_iter().map(|piece| piece.range);
        for range in pieces.chain(std::iter::once(0..request.len())) {
            let text = &request[range];
            let slots = self.read(text);
            let hint = hints::hint(text, &slots).map(str::to_owned);
            for text in [Some(text.to_owned()), Some(without_places(text, &slots)), hint].into_iter().flatten() {
                if !text.trim().is_empty() && !texts.contains(&text) {
                    texts.push(text);
                }
            }
        }
        texts
    }

    /// The planner with what a model makes of its tools and of the texts that it looks for.
    #[must_use]
    pub fn knowing(mut self, meanings: Meanings) -> Self {
        self.shelf.know(meanings);
        self
    }

    /// What is to be done about a request.
    ///
    /// The request is cut between thoughts; a part that finds no tool belongs to its neighbour. Per part: one match is a
    /// call; several of different categories are run side by side; several of one category one after another, until one
    /// succeeds. Where a part names several places and its tool takes one, the call is made for each.
    pub fn plan(&self, request: &str) -> Plan {
        let mut plan = Plan { request: request.to_owned(), ..Plan::default() };
        let mut parts = self.parts(request);
        if parts.iter().all(|part| part.matches.is_empty()) {
            let whole = self.part(request, 0..request.len());
            if whole.matches.is_empty() {
                plan.nearest = self.shelf.nearest(request, &self.rules);
                return plan;
            }
            parts = vec![whole];
        }
        let mut before: Vec<Slot> = Vec::new();
        for part in self.joined(request, parts, &mut plan.unanswered) {
            let text = &request[part.range.clone()];
            let said = Said { text, slots: &part.slots, before: &before };
            let groups = groups(&part.matches, &said);
            plan.groups.extend(of_others(&part.matches, &groups, &said));
            // What was said last is meant first.
            before.splice(0..0, part.slots);
        }
        once_each(&mut plan.groups);
        plan
    }

    /// The parts of a request. A piece that is only joined, finds nothing and asks nothing is more of what stands before it,
    /// or of what comes after it where it is the first.
    fn parts(&self, request: &str) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        let idle = |part: &Part| {
            part.matches.is_empty() && part.slots.is_empty() && !parts::asks(&request[part.range.clone()])
        };
        for piece in parts::pieces(request) {
            let part = self.part(request, piece.range);
            let last = parts.last().filter(|last| piece.bond == Bond::Joint && (idle(&part) || idle(last)));
            // Together they must find something: what one of them finds alone is not lost to the other.
            let both = last.map(|last| self.part(request, last.range.start..part.range.end));
            match both.filter(|both| !both.matches.is_empty()) {
                Some(both) => drop(parts.splice(parts.len() - 1.., [both])),
                None => parts.push(part),
            }
        }
        parts
    }

    fn part(&self, request: &str, range: Range<usize>) -> Part {
        let text = &request[range.clone()];
        let slots = self.read(text);
        let without = without_places(text, &slots);
        let texts = match self.rules.scorer {
            Scorer::Best | Scorer::Words if !without.trim().is_empty() => vec![text, &*without],
            // The prescribed rule compares what was said.
            Scorer::Best | Scorer::Words | Scorer::Weighted(_) => vec![text],
        };
        let said = Said { text, slots: &slots, before: &[] };
        let matches = self.shelf.matches(&texts, None, &self.rules);
        // By the prescribed rule the words decide, and what was read only where they find nothing.
        let prescribed = matches!(self.rules.scorer, Scorer::Weighted(_));
        let matches = if prescribed { matches } else { chosen(matches, &said) };
        let served = |found: &Match| prescribed || takes(found, &said);
        let by_hint = |hint| chosen(self.shelf.matches(&[hint], Some(hint), &self.rules), &said);
        let hinted = match hints::hint(text, &slots) {
            Some(hint) if !matches.iter().any(served) => by_hint(hint),
            Some(_) | None => Vec::new(),
        };
        // A tool that was found by its words goes before one that was not, unless only the other takes what was said.
        let matches = match matches.is_empty() || hinted.iter().any(|found| takes(found, &said)) {
            true if !hinted.is_empty() => hinted,
            true | false => matches,
        };
        Part { range, slots, matches }
    }

    fn read(&self, text: &str) -> Vec<Slot> {
        match self.rules.reading {
            Reading::Full => slots::read(text, self.rules.today),
            Reading::Prescribed => slots::prescribed::read(text),
        }
    }

    /// Parts that belong together as one. One that finds nothing is context where something can be read out of it, and
    /// unanswered where not.
    fn joined(&self, request: &str, parts: Vec<Part>, unanswered: &mut Vec<String>) -> Vec<Part> {
        let mut joined: Vec<Part> = Vec::new();
        // Where context begins that came before any part that finds something.
        let mut waiting: Option<usize> = None;
        for mut part in parts {
            let text = &request[part.range.clone()];
            match joined.last_mut() {
                _ if part.matches.is_empty() && part.slots.is_empty() => unanswered.push(text.to_owned()),
                Some(last) if part.matches.is_empty() || is_more_of(last, &part) => {
                    last.range.end = part.range.end;
                    last.slots = self.read(&request[last.range.clone()]);
                }
                None if part.matches.is_empty() => waiting = waiting.or(Some(part.range.start)),
                Some(_) | None => {
                    if let Some(start) = waiting.take() {
                        part.range.start = start;
                        part.slots = self.read(&request[part.range.clone()]);
                    }
                    joined.push(part);
                }
            }
        }
        joined
    }
}

/// A text without the names and dates in it: they are what a tool is to be given, and hardly ever its own words.
fn without_places(text: &str, slots: &[Slot]) -> String {
    let mut rest = text.to_owned();
    for slot in slots.iter().filter(|slot| slot.kind != Kind::Query) {
        // Blanks of the same width, so that the spans stay right.
        if let Some(words) = text.get(slot.span.clone()) {
            rest.replace_range(slot.span.clone(), &" ".repeat(words.len()));
        }
    }
    rest
}

/// Whether a tool can be called with what was said, and takes some of it.
fn takes(found: &Match, said: &Said<'_>) -> bool {
    let step = Step::of(found, said);
    let callable = matches!(step.standing, Standing::Ready | Standing::Unagreed);
    callable && step.arguments.iter().any(|one| matches!(one.origin, Origin::Said { .. } | Origin::Named))
}

/// The matches; those alone that take what was said, where some do.
fn chosen(matches: Vec<Match>, said: &Said<'_>) -> Vec<Match> {
    if said.slots.is_empty() {
        return matches;
    }
    let (taking, others): (Vec<_>, Vec<_>) = matches.into_iter().partition(|found| takes_any(found, said));
    if taking.is_empty() { others } else { taking }
}

/// Whether a tool takes some of what was said, whatever else it wants.
fn takes_any(found: &Match, said: &Said<'_>) -> bool {
    let step = Step::of(found, said);
    step.arguments.iter().any(|one| matches!(one.origin, Origin::Said { .. } | Origin::Named))
}

/// Whether a part only goes on with the one before it: it means the same tool, and says other things.
fn is_more_of(last: &Part, part: &Part) -> bool {
    let first = |part: &Part| part.matches.first().map(|found| found.tool.name.clone());
    let place = |kind: Kind| if kind == Kind::Location { Kind::City } else { kind };
    let says = |kind: Kind| last.slots.iter().any(|slot| place(slot.kind) == place(kind));
    first(last) == first(part) && !part.slots.iter().any(|slot| says(slot.kind))
}

/// The matches by category, in the order of the best of each.
fn groups(matches: &[Match], said: &Said<'_>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for found in matches {
        let step = Step::of(found, said);
        let category = &found.tool.category;
        match groups.iter_mut().find(|group| group.category.eq_ignore_ascii_case(category)) {
            Some(group) => group.steps.push(step),
            None => {
                groups.push(Group { part: said.text.to_owned(), category: category.clone(), steps: vec![step] });
            }
        }
    }
    // What another category could be asked at once does not wait for words that nobody said; the best is never left out.
    let ready = |group: &Group| group.steps.iter().any(|step| step.standing == Standing::Ready);
    let (best, rest) = (groups.first().cloned(), groups.split_off(groups.len().min(1)));
    let any = best.iter().chain(&rest).any(ready);
    best.into_iter().chain(rest.into_iter().filter(|group| !any || ready(group))).collect()
}

/// The groups, and after each the same once more for every further place that was named, where its tools take one.
fn of_others(matches: &[Match], groups: &[Group], said: &Said<'_>) -> Vec<Group> {
    let mut all = Vec::new();
    for group in groups {
        all.push(group.clone());
        let kind = group.steps.first().and_then(|step| place_of(step, said));
        for other in said.slots.iter().filter(|slot| Some(slot.kind) == kind).skip(1) {
            let without = said.slots.iter().filter(|slot| Some(slot.kind) != kind || *slot == other).cloned();
            let slots: Vec<Slot> = without.collect();
            let said = Said { slots: &slots, ..*said };
            let meant = |step: &Step| matches.iter().find(|found| found.tool == step.tool);
            let steps = group.steps.iter().filter_map(meant).map(|found| Step::of(found, &said)).collect();
            all.push(Group { steps, ..group.clone() });
        }
    }
    all
}

/// The kind of place of which a call takes one.
fn place_of(step: &Step, said: &Said<'_>) -> Option<Kind> {
    let taken = step.arguments.iter().filter(|one| one.value.is_string()).find_map(|one| match &one.origin {
        Origin::Said { kind, words } => {
            said.slots.iter().find(|slot| slot.kind.name() == *kind && slot.value == *words)
        }
        _ => None,
    })?;
    matches!(taken.kind, Kind::City | Kind::Location).then_some(taken.kind)
}

/// No call is made twice.
fn once_each(groups: &mut Vec<Group>) {
    let mut known: Vec<(String, serde_json::Map<String, serde_json::Value>)> = Vec::new();
    groups.retain(|group| {
        let Some(step) = group.steps.first() else { return false };
        let call = (step.tool.name.clone(), step.values().clone());
        let new = !known.contains(&call);
        if new {
            known.push(call);
        }
        new
    });
}
