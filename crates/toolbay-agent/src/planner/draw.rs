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
    parts::parts,
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
        for range in parts(request).into_iter().chain(std::iter::once(0..request.len())) {
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
    /// succeeds.
    pub fn plan(&self, request: &str) -> Plan {
        let mut plan = Plan { request: request.to_owned(), ..Plan::default() };
        let mut parts: Vec<Part> = parts(request).into_iter().map(|range| self.part(request, range)).collect();
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
            plan.groups.extend(groups(&part.matches, &said));
            before.extend(part.slots);
        }
        once_each(&mut plan.groups);
        plan
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
        let matches = chosen(self.shelf.matches(&texts, None, &self.rules), &said);
        let by_hint = |hint| chosen(self.shelf.matches(&[hint], Some(hint), &self.rules), &said);
        let hinted = match hints::hint(text, &slots) {
            Some(hint) if !matches.iter().any(|found| takes(found, &said)) => by_hint(hint),
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
    // What another category could be asked at once does not wait for words that nobody said.
    let ready = |group: &Group| group.steps.iter().any(|step| step.standing == Standing::Ready);
    if groups.iter().any(ready) {
        groups.retain(ready);
    }
    groups
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
