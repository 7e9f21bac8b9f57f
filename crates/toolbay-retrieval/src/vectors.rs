//! Texts as points: near one another where they speak of the same.
//!
//! Keeps the points of tools and compares them with a request's; does not know where the points come from.

use std::sync::OnceLock;

use crate::tokens::Language;

/// One, as a whole number of a packed point.
const ONE: f32 = 127.0;

/// A language's centre counts as if so many points at the origin belonged to it: a few tools make no centre.
const DOUBT: f32 = 8.0;

/// The points of tools, one row a place.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    width: usize,
    rows: Vec<i8>,
    languages: Vec<Option<Language>>,
    sums: [Vec<i64>; 2],
    counts: [u32; 2],
    /// Worked out again after a change, with the first request.
    factors: OnceLock<Vec<Factor>>,
}

#[derive(Clone, Copy, Debug)]
struct Factor {
    language: Language,
    times: f32,
}

impl Space {
    /// Room for points of that many numbers.
    pub(crate) fn new(width: usize) -> Self {
        Self {
            width,
            rows: Vec::new(),
            languages: Vec::new(),
            sums: [vec![0; width], vec![0; width]],
            counts: [0; 2],
            factors: OnceLock::new(),
        }
    }

    /// Keeps a point; one without direction is not kept.
    pub(crate) fn insert(&mut self, place: u32, point: &[f32], language: Language) {
        self.remove(place);
        let Some(row) = packed(point, self.width) else { return };
        let place = place as usize;
        if self.languages.len() <= place {
            self.languages.resize(place + 1, None);
            self.rows.resize((place + 1) * self.width, 0);
        }
        for (sum, &x) in self.sums[slot(language)].iter_mut().zip(&row) {
            *sum += i64::from(x);
        }
        self.counts[slot(language)] += 1;
        self.rows[place * self.width..][..self.width].copy_from_slice(&row);
        self.languages[place] = Some(language);
        self.factors = OnceLock::new();
    }

    /// Forgets the point at that place.
    pub(crate) fn remove(&mut self, place: u32) {
        let place = place as usize;
        let Some(language) = self.languages.get_mut(place).and_then(Option::take) else { return };
        let row = &mut self.rows[place * self.width..][..self.width];
        for (sum, x) in self.sums[slot(language)].iter_mut().zip(row.iter_mut()) {
            *sum -= i64::from(std::mem::take(x));
        }
        self.counts[slot(language)] -= 1;
        self.factors = OnceLock::new();
    }

    /// How near each place is to the point, seen from the centre of its language; nought for places without one.
    pub(crate) fn nearness(&self, point: &[f32]) -> Option<Vec<f32>> {
        let asked = packed(point, self.width)?;
        let centres = [0, 1].map(|slot| dot_wide(&self.centre(slot), &asked));
        let factors = self.factors.get_or_init(|| self.factors());
        let near =
            |(row, factor): (&[i8], &Factor)| (dot(row, &asked) as f32 - centres[slot(factor.language)]) * factor.times;
        Some(self.rows.chunks_exact(self.width).zip(factors).map(near).collect())
    }

    /// How many points of texts in that language are kept.
    pub(crate) fn written(&self, language: Language) -> u32 {
        self.counts[slot(language)]
    }

    /// How many points are kept.
    pub(crate) fn count(&self) -> u32 {
        self.counts[0] + self.counts[1]
    }

    /// What brings each point, seen from the centre, to length one.
    fn factors(&self) -> Vec<Factor> {
        let centres = [self.centre(0), self.centre(1)];
        let lengths = [0, 1].map(|slot| centres[slot].iter().map(|x| x * x).sum::<f32>());
        let factor = |(row, language): (&[i8], &Option<Language>)| {
            let Some(language) = *language else { return Factor { language: Language::English, times: 0.0 } };
            let slot = slot(language);
            let left = ONE * ONE - 2.0 * dot_wide(&centres[slot], row) + lengths[slot];
            // A point close to the centre says little, and is not made to say more than a hundredfold.
            Factor { language, times: 1.0 / (left.max(ONE * ONE / 1e4).sqrt() * ONE) }
        };
        self.rows.chunks_exact(self.width).zip(&self.languages).map(factor).collect()
    }

    fn centre(&self, slot: usize) -> Vec<f32> {
        let count = self.counts[slot] as f32 + DOUBT;
        self.sums[slot].iter().map(|&sum| sum as f32 / count).collect()
    }
}

fn slot(language: Language) -> usize {
    match language {
        Language::English => 0,
        Language::Chinese => 1,
    }
}

/// The point at length one, in whole numbers.
fn packed(point: &[f32], width: usize) -> Option<Vec<i8>> {
    let length = point.iter().map(|x| x * x).sum::<f32>().sqrt();
    if point.len() != width || !length.is_finite() || length < 1e-9 {
        return None;
    }
    Some(point.iter().map(|x| (x / length * ONE).round().clamp(-ONE, ONE) as i8).collect())
}

/// In strips of sixteen products, which the compiler turns into a few wide instructions.
#[inline]
fn dot(left: &[i8], right: &[i8]) -> i32 {
    let ((left, left_rest), (right, right_rest)) = (left.as_chunks::<16>(), right.as_chunks::<16>());
    let mut sums = [0_i32; 8];
    for (left, right) in left.iter().zip(right) {
        let mut products = [0_i16; 16];
        for at in 0..16 {
            products[at] = i16::from(left[at]) * i16::from(right[at]);
        }
        for at in 0..8 {
            sums[at] += i32::from(products[at]) + i32::from(products[at + 8]);
        }
    }
    let rest: i32 = left_rest.iter().zip(right_rest).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum();
    sums.iter().sum::<i32>() + rest
}

fn dot_wide(left: &[f32], right: &[i8]) -> f32 {
    left.iter().zip(right).map(|(&a, &b)| a * f32::from(b)).sum()
}

#[cfg(test)]
mod tests {
    use super::Space;
    use crate::tokens::Language;

    #[test]
    fn the_nearest_is_the_one_that_points_the_same_way() {
        let mut space = Space::new(2);
        space.insert(0, &[1.0, 0.0], Language::English);
        space.insert(2, &[0.0, 3.0], Language::English);
        let near = space.nearness(&[0.2, 0.9]).unwrap();
        assert!(near[2] > near[0]);
        assert_eq!((near[1], space.count()), (0.0, 2));
    }

    #[test]
    fn what_was_taken_out_leaves_nothing_behind() {
        let mut space = Space::new(2);
        space.insert(0, &[1.0, 0.5], Language::English);
        let before = space.nearness(&[1.0, 1.0]);
        space.insert(1, &[-1.0, 0.5], Language::English);
        space.remove(1);
        assert_eq!(space.nearness(&[1.0, 1.0]).unwrap()[0], before.unwrap()[0]);
    }

    #[test]
    fn a_point_without_direction_is_not_kept() {
        let mut space = Space::new(2);
        space.insert(0, &[0.0, 0.0], Language::Chinese);
        space.insert(1, &[f32::NAN, 1.0], Language::Chinese);
        space.insert(2, &[1.0], Language::Chinese);
        assert_eq!(space.nearness(&[0.0, 0.0]), None);
        assert_eq!(space.nearness(&[1.0, 0.0]), Some(Vec::new()));
    }
}
