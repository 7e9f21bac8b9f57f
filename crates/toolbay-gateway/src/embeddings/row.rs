//! A text's name and its vector, as both are kept.

use sha2::{Digest as _, Sha256};

/// The largest number of a packed vector.
const MOST: f32 = 127.0;

/// A text by its SHA-256.
pub(super) type Digest = [u8; 32];

/// The digest of a text.
pub(super) fn digest(text: &str) -> Digest {
    Sha256::digest(text.as_bytes()).into()
}

/// A vector's direction in numbers of a byte: an index keeps no more of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row(pub(super) Box<[i8]>);

impl Row {
    /// Packs a vector; one without direction has no row.
    #[expect(clippy::cast_possible_truncation, reason = "no number is larger than a byte holds")]
    pub(super) fn pack(vector: &[f32]) -> Option<Self> {
        let largest = vector.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
        if !largest.is_finite() || largest < 1e-12 {
            return None;
        }
        Some(Self(vector.iter().map(|x| (x / largest * MOST).round() as i8).collect()))
    }

    /// The vector, at length one.
    pub(super) fn vector(&self) -> Vec<f32> {
        let numbers: Vec<f32> = self.0.iter().map(|&x| f32::from(x)).collect();
        unit(&numbers).unwrap_or(numbers)
    }
}

/// The vector at length one; nothing where it has no direction.
pub(super) fn unit(vector: &[f32]) -> Option<Vec<f32>> {
    let length = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    (length.is_finite() && length > 1e-12).then(|| vector.iter().map(|x| (f64::from(*x) / length) as f32).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_vector_points_where_it_did() {
        let vector: Vec<f32> = (0..384).map(|at| ((at * 37 % 101) as f32 - 50.0) / 900.0).collect();
        let (before, after) = (unit(&vector).unwrap(), Row::pack(&vector).unwrap().vector());
        let cosine: f32 = before.iter().zip(&after).map(|(a, b)| a * b).sum();
        assert!(cosine > 0.9999, "{cosine}");
        assert_eq!(Row::pack(&[0.0, 0.0]), None);
        assert_eq!(Row::pack(&[f32::NAN, f32::INFINITY]), None);
    }
}
