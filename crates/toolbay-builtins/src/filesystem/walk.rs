//! Folders below folders, level by level: a tree to look at, and a search by pattern. No link is followed.

use std::{
    collections::VecDeque,
    ffi::OsString,
    path::{Path, PathBuf},
};

use cap_fs_ext::DirExt as _;
use cap_std::fs::Dir;
use globset::{GlobBuilder, GlobMatcher};

use super::{
    entry::{Kind, Match, Matches, Node, Tree},
    error::Error,
    list::{Names, names},
    root::{Root, or_here, shown, tell},
};

impl Root {
    /// A folder and what lies below it, `depth` levels deep (one is the folder's own entries).
    ///
    /// Upper levels come first: where the limit of entries cuts, it cuts deep down.
    pub fn tree(&self, path: &str, depth: usize) -> Result<Tree, Error> {
        if !(1..=self.limits.depth).contains(&depth) {
            return Err(Error::OutOfRange { what: "the depth", given: depth, most: self.limits.depth });
        }
        let (dir, opened) = self.open_folder(path)?;
        let mut walk = Walk::new(dir, depth, self.limits.visits);
        let mut grown: Vec<Grown> = Vec::new();
        let mut cut = false;
        while let Some(step) = walk.next(path)? {
            let parent = step.parent;
            for (name, kind) in step.names {
                if grown.len() == self.limits.entries {
                    cut = true;
                    break;
                }
                let below = step.path.join(&name);
                let opened = kind == Kind::Folder && walk.enter(grown.len(), below, step.level);
                grown.push(Grown { parent, name: name.to_string_lossy().into_owned(), kind, opened });
            }
            if cut {
                break;
            }
        }
        let note = walk.note(cut.then(|| format!("only {} entries are shown", self.limits.entries)));
        Ok(Tree { path: shown(&opened), children: nest(grown), note })
    }

    /// The paths below a folder that fit a pattern, at most `limit` of them.
    ///
    /// A pattern without `/` fits a name at any depth; one with `/` fits the whole path below the folder.
    pub fn search(&self, path: &str, pattern: &str, limit: usize) -> Result<Matches, Error> {
        if !(1..=self.limits.entries).contains(&limit) {
            return Err(Error::OutOfRange { what: "the number of matches", given: limit, most: self.limits.entries });
        }
        let matcher = compile(pattern)?;
        let by_name = !pattern.contains('/');
        let (dir, opened) = self.open_folder(path)?;
        let mut walk = Walk::new(dir, SEARCH_DEPTH, self.limits.visits);
        let mut matches = Vec::new();
        let mut cut = false;
        'walk: while let Some(step) = walk.next(path)? {
            for (name, kind) in step.names {
                let below = step.path.join(&name);
                if matcher.is_match(if by_name { Path::new(&name) } else { below.as_path() }) {
                    if matches.len() == limit {
                        cut = true;
                        break 'walk;
                    }
                    matches.push(Match { path: shown(&opened.join(&below)), kind });
                }
                if kind == Kind::Folder {
                    walk.enter(0, below, step.level);
                }
            }
        }
        let note = walk.note(cut.then(|| format!("there are more than {limit} matches")));
        Ok(Matches { path: shown(&opened), matches, note })
    }
}

fn compile(pattern: &str) -> Result<GlobMatcher, Error> {
    let bad = |why: String| Error::BadPattern { pattern: pattern.chars().take(LONGEST_PATTERN).collect(), why };
    if pattern.is_empty() {
        return Err(bad("it is empty".into()));
    }
    if pattern.len() > LONGEST_PATTERN {
        return Err(bad(format!("it is longer than {LONGEST_PATTERN} bytes")));
    }
    let plain = pattern.strip_prefix("./").unwrap_or(pattern);
    let glob = GlobBuilder::new(plain).literal_separator(true).build().map_err(|why| bad(why.kind().to_string()))?;
    Ok(glob.compile_matcher())
}

/// A walk through folders, level by level.
struct Walk {
    start: Dir,
    waiting: VecDeque<Waiting>,
    depth: usize,
    visits_left: usize,
    unopened: usize,
    out_of_visits: bool,
    too_deep: bool,
}

/// A folder whose names are still to be read.
struct Waiting {
    mark: Option<usize>,
    path: PathBuf,
    level: usize,
}

/// The names of one folder.
struct Step {
    /// The mark the folder was entered with; none at the start.
    parent: Option<usize>,
    /// The folder, relative to the start.
    path: PathBuf,
    level: usize,
    names: Vec<(OsString, Kind)>,
}

impl Walk {
    fn new(start: Dir, depth: usize, visits: usize) -> Self {
        let waiting = VecDeque::from([Waiting { mark: None, path: PathBuf::new(), level: 1 }]);
        Self { start, waiting, depth, visits_left: visits, unopened: 0, out_of_visits: false, too_deep: false }
    }

    /// The next folder that can be read; an error only if that is the first one.
    fn next(&mut self, asked: &str) -> Result<Option<Step>, Error> {
        while let Some(Waiting { mark, path, level }) = self.waiting.pop_front() {
            if self.visits_left == 0 {
                self.out_of_visits = true;
                return Ok(None);
            }
            // Opened afresh beneath the start: held open, a wide level would use up the handles of the process.
            let read = self.open(&path).and_then(|dir| names(&dir, self.visits_left));
            match read {
                Ok(Names { names, more }) => {
                    self.visits_left -= names.len();
                    self.out_of_visits |= more;
                    return Ok(Some(Step { parent: mark, path, level, names }));
                }
                Err(why) if mark.is_none() && level == 1 => return Err(tell(asked, &why)),
                Err(_) => self.unopened += 1,
            }
        }
        Ok(None)
    }

    fn open(&self, path: &Path) -> std::io::Result<Dir> {
        self.start.open_dir_nofollow(or_here(path))
    }

    /// Puts a folder in line, unless it lies too deep; says whether it did.
    fn enter(&mut self, mark: usize, path: PathBuf, level: usize) -> bool {
        if level == self.depth {
            self.too_deep = true;
            return false;
        }
        self.waiting.push_back(Waiting { mark: Some(mark), path, level: level + 1 });
        true
    }

    /// What the answer lacks, in one sentence.
    fn note(&self, cut: Option<String>) -> Option<String> {
        let mut parts: Vec<String> = cut.into_iter().collect();
        if self.out_of_visits {
            parts.push("the folder holds more names than one call may look at".into());
        }
        if self.unopened > 0 {
            parts.push(format!("{} folders could not be opened", self.unopened));
        }
        if self.too_deep {
            parts.push(format!("folders more than {} levels down are not opened", self.depth));
        }
        (!parts.is_empty()).then(|| format!("{}; ask for a folder further down to see more", parts.join("; ")))
    }
}

/// A node before it is hung under its parent.
struct Grown {
    parent: Option<usize>,
    name: String,
    kind: Kind,
    opened: bool,
}

/// Hangs each node under its parent. Parents come before their children, so from the back nothing is missed.
fn nest(grown: Vec<Grown>) -> Vec<Node> {
    let mut below: Vec<Vec<Node>> = grown.iter().map(|_| Vec::new()).collect();
    let mut top = Vec::new();
    for (at, one) in grown.into_iter().enumerate().rev() {
        let mut children = std::mem::take(&mut below[at]);
        children.reverse();
        let node = Node { name: one.name, kind: one.kind, children: one.opened.then_some(children) };
        match one.parent {
            Some(parent) => below[parent].push(node),
            None => top.push(node),
        }
    }
    top.reverse();
    top
}

/// A search goes this deep.
const SEARCH_DEPTH: usize = 64;
/// The longest pattern that is read.
const LONGEST_PATTERN: usize = 1_000;
