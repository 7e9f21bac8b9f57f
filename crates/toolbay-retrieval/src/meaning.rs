//! What a text is about: the mean of its words' points in the built-in table.

use std::sync::LazyLock;

use crate::requests;
use crate::table::{self, WIDTH};
use crate::tokens::{self, Kind, Language, Word};

/// What a word of a name, and of an argument, tells beside one of the description.
const NAME: f32 = 2.0;
const PARAMS: f32 = 0.2;

/// How much of what all requests have in common is taken out of one.
const COMMON: f32 = 0.7;

/// The point of a tool.
pub(crate) fn of_tool(name: &[Word], description: &[Word], params: &[Word]) -> Option<Vec<f32>> {
    let mut sum = Sum::default();
    sum.add(name, NAME);
    sum.add(description, 1.0);
    sum.add(params, PARAMS);
    sum.point()
}

/// The point of a request, less what all requests of its language have in common.
pub(crate) fn of_request(words: &[Word], language: Language) -> Option<Vec<f32>> {
    static ALIKE: LazyLock<[Vec<f32>; 2]> = LazyLock::new(|| [common(requests::ENGLISH), common(requests::CHINESE)]);
    let common = match language {
        Language::English => &ALIKE[0],
        Language::Chinese => &ALIKE[1],
    };
    let point = bare(words)?;
    Some(point.iter().zip(common).map(|(x, common)| x - COMMON * common).collect())
}

/// The mean of the points of some requests.
fn common(requests: &str) -> Vec<f32> {
    let mut sum = vec![0.0; WIDTH];
    let count = requests.lines().count().max(1) as f32;
    for point in requests.lines().filter_map(|request| bare(&tokens::words(request))) {
        sum.iter_mut().zip(point).for_each(|(sum, x)| *sum += x / count);
    }
    sum
}

/// The point of a request, at length one.
fn bare(words: &[Word]) -> Option<Vec<f32>> {
    let mut sum = Sum::default();
    sum.add(words, 1.0);
    let point = sum.point()?;
    let length = point.iter().map(|x| x * x).sum::<f32>().sqrt();
    (length > 0.0).then(|| point.iter().map(|x| x / length).collect())
}

struct Sum {
    numbers: [f32; WIDTH],
    words: usize,
}

impl Default for Sum {
    fn default() -> Self {
        Self { numbers: [0.0; WIDTH], words: 0 }
    }
}

impl Sum {
    fn add(&mut self, words: &[Word], weight: f32) {
        for word in words.iter().filter(|word| word.kind != Kind::Pair) {
            if let Some(entry) = table::entry(&word.written) {
                entry.add_to(&mut self.numbers, weight * entry.worth);
                self.words += 1;
            }
        }
    }

    fn point(self) -> Option<Vec<f32>> {
        (self.words > 0).then(|| self.numbers.to_vec())
    }
}
