//! What a model is shown in a conversation. What was shown once stays where it was: providers keep what they have read.

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex},
};

use serde::Serialize;

use super::{
    compiler::Compiler,
    host,
    index::Pick,
    names::Names,
    showing::{Showing, most, tokens},
};
use crate::{
    model::{Defined, Wire},
    toolbox::{Shelf, Tool, ToolId},
};

/// What a model is shown, and what all tools are called.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(super) compiler: Compiler,
    showing: Showing,
    pub(super) shelf: Arc<Shelf>,
    pub(super) names: Names,
    pub(super) tools: HashMap<ToolId, Arc<Tool>>,
    defined: Vec<Defined>,
    places: HashMap<ToolId, (usize, Arc<Tool>)>,
    extent: Extent,
    bytes: usize,
    pub(super) pick: Arc<Mutex<Pick>>,
}

/// How much of the shelf is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// Nothing was shown yet.
    Unknown,
    /// All of it.
    All,
    /// Some; the rest is found. There is no way back within a conversation.
    Some,
}

impl Shown {
    pub(crate) fn new(wire: Wire, showing: Showing) -> Self {
        Self {
            compiler: Compiler::new(wire),
            showing,
            shelf: Arc::default(),
            names: Names::default(),
            tools: HashMap::new(),
            defined: Vec::new(),
            places: HashMap::new(),
            extent: Extent::Unknown,
            bytes: 0,
            pick: Arc::default(),
        }
    }

    /// The definitions, in an order that only grows.
    pub(crate) fn defined(&self) -> &[Defined] {
        &self.defined
    }

    /// About how many tokens the definitions take.
    pub(crate) fn tokens(&self) -> usize {
        tokens(self.bytes)
    }

    /// What there is.
    pub(crate) fn shelf(&self) -> &Arc<Shelf> {
        &self.shelf
    }

    /// Takes on what stands on the shelf now. Costs nothing where nothing has changed.
    pub(crate) fn follow(&mut self, shelf: &Arc<Shelf>) {
        let same = self.extent != Extent::Unknown && self.shelf.generation == shelf.generation;
        if same || (self.extent == Extent::Unknown && shelf.tools.is_empty()) {
            self.shelf = Arc::clone(shelf);
            return;
        }
        self.shelf = Arc::clone(shelf);
        self.tools = shelf.tools.iter().map(|tool| (tool.id.clone(), Arc::clone(tool))).collect();
        self.compiler.keep(|id| self.tools.contains_key(id));
        self.names.give(self.compiler.wire, &shelf.tools);
        self.renew();
        let new: Vec<_> = shelf.tools.iter().filter(|tool| !self.places.contains_key(&tool.id)).cloned().collect();
        let (pinned, rest): (Vec<_>, Vec<_>) = new.into_iter().partition(|tool| self.showing.pinned.contains(&tool.id));
        if self.extent == Extent::Unknown {
            self.show(host::reader());
        }
        if self.extent != Extent::Some && self.fits(pinned.iter().chain(&rest)) {
            self.extent = Extent::All;
            pinned.iter().chain(&rest).for_each(|tool| self.show(tool));
        } else {
            if self.extent != Extent::Some {
                self.extent = Extent::Some;
                host::finders().iter().for_each(|tool| self.show(tool));
            }
            // What does not fit beneath the provider's cap is found like the others.
            let room = most(self.compiler.wire).map_or(usize::MAX, |most| most.saturating_sub(self.defined.len()));
            pinned.iter().take(room).for_each(|tool| self.show(tool));
        }
    }

    /// Whether all of these may be shown beside what is, and the finders still after them.
    fn fits<'a>(&self, new: impl Iterator<Item = &'a Arc<Tool>>) -> bool {
        let (tools, bytes) = new.fold((self.defined.len(), self.bytes), |(tools, bytes), tool| {
            (tools + 1, bytes + length(&(&tool.public, &tool.description, &tool.schema)))
        });
        !self.showing.too_many(self.compiler.wire, tools + host::finders().len(), bytes)
    }

    /// Defines again, each in its place, what says something else now.
    fn renew(&mut self) {
        for (id, (place, before)) in &mut self.places {
            if let Some(now) = self.tools.get(id).filter(|now| !Arc::ptr_eq(now, before)) {
                if now.as_ref() != before.as_ref() {
                    let name = self.defined[*place].name.clone();
                    self.bytes -= length_of(&self.defined[*place]);
                    self.defined[*place] = self.compiler.of(&name, now).defined().clone();
                    self.bytes += length_of(&self.defined[*place]);
                }
                *before = Arc::clone(now);
            }
        }
    }

    fn show(&mut self, tool: &Arc<Tool>) {
        let name = self.names.of(&tool.id).unwrap_or(&tool.public);
        let defined = self.compiler.of(name, tool).defined().clone();
        self.bytes += length_of(&defined);
        self.places.insert(tool.id.clone(), (self.defined.len(), Arc::clone(tool)));
        self.defined.push(defined);
    }
}

fn length_of(defined: &Defined) -> usize {
    length(&(&defined.name, &defined.description, &defined.schema))
}

/// How long something is, written out; without writing it.
fn length(what: &impl Serialize) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    serde_json::to_writer(&mut count, what).expect("values have text keys, and a count never fails");
    count.0
}
