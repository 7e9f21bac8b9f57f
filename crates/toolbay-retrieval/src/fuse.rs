//! One score from several voices: words, the built-in table, a caller's model.
//!
//! Each voice is brought to the same scale, then weighed by what the request is like: where one tool stands out by
//! its words, they are nearly always right, and the other voices would only blur them.

use crate::bm25::Scores;
use crate::tokens::Language;

/// What each voice says of all places.
#[derive(Debug)]
pub(crate) struct Voices {
    pub(crate) words: Scores,
    pub(crate) about: Option<Voice>,
    pub(crate) model: Option<Voice>,
    /// How many tools there are.
    pub(crate) tools: usize,
}

/// What one voice says: a score a place, nought where it is silent.
#[derive(Debug)]
pub(crate) struct Voice {
    pub(crate) scores: Vec<f32>,
    /// Of how many places it speaks.
    pub(crate) count: usize,
}

/// The scores of all places, voice by voice.
#[derive(Debug)]
pub(crate) struct Fused<'a> {
    voices: &'a Voices,
    language: Language,
    words: Scale,
    about: Scale,
    model: Scale,
}

/// How a voice's raw score becomes its part of the sum.
#[derive(Clone, Copy, Debug)]
struct Scale {
    mean: f32,
    factor: f32,
}

impl Scale {
    const SILENT: Self = Self { mean: 0.0, factor: 0.0 };

    /// So that the scores of so many places have the mean nought and the spread one; places left out score nought.
    fn standard(scores: &[f32], count: usize) -> Self {
        let (strips, rest) = scores.as_chunks::<8>();
        let (mut sums, mut squares) = ([0.0_f32; 8], [0.0_f32; 8]);
        for strip in strips {
            for at in 0..8 {
                sums[at] += strip[at];
                squares[at] += strip[at] * strip[at];
            }
        }
        let sum = f64::from(sums.iter().chain(rest).sum::<f32>());
        let squares = f64::from(squares.iter().sum::<f32>() + rest.iter().map(|x| x * x).sum::<f32>());
        let count = count.max(1) as f64;
        let mean = sum / count;
        let spread = (squares / count - mean * mean).max(0.0).sqrt();
        Self { mean: mean as f32, factor: if spread > 1e-6 { (1.0 / spread) as f32 } else { 0.0 } }
    }

    fn times(self, weight: f32) -> Self {
        Self { factor: self.factor * weight, ..self }
    }

    fn of(self, raw: f32) -> f32 {
        (raw - self.mean) * self.factor
    }
}

/// What a voice weighs beside the words, by how far the best tool stands out by its words: not at all, and clearly.
#[derive(Clone, Copy, Debug)]
struct Weight {
    level: f32,
    clear: f32,
}

/// Where standing out begins and where it is clear, in spreads above the mean.
const STANDS_OUT: std::ops::Range<f32> = 6.0..12.0;

const ABOUT: Weight = Weight { level: 0.9, clear: 0.1 };
const ABOUT_BESIDE_MODEL: Weight = Weight { level: 0.7, clear: 0.1 };
const MODEL_ENGLISH: Weight = Weight { level: 1.0, clear: 0.4 };
const MODEL_CHINESE: Weight = Weight { level: 0.8, clear: 0.4 };

impl Weight {
    fn at(self, best: f32) -> f32 {
        let far = (best - STANDS_OUT.start) / (STANDS_OUT.end - STANDS_OUT.start);
        self.level + (self.clear - self.level) * far.clamp(0.0, 1.0)
    }
}

/// Weighs the voices.
pub(crate) fn fuse(voices: &Voices, language: Language) -> Fused<'_> {
    let words = Scale::standard(&voices.words.sums, voices.tools);
    let best = words.of(voices.words.best());
    let about = if voices.model.is_some() { ABOUT_BESIDE_MODEL } else { ABOUT };
    let model = match language {
        Language::English => MODEL_ENGLISH,
        Language::Chinese => MODEL_CHINESE,
    };
    let scale = |voice: &Option<Voice>, weight: Weight| {
        voice.as_ref().map_or(Scale::SILENT, |voice| Scale::standard(&voice.scores, voice.count).times(weight.at(best)))
    };
    Fused { voices, language, words, about: scale(&voices.about, about), model: scale(&voices.model, model) }
}

impl Fused<'_> {
    /// The score of a place; nothing where no voice speaks for it.
    pub(crate) fn total(&self, place: u32) -> Option<f32> {
        let heard = self.voices.words.sums.get(place as usize).is_some_and(|&sum| sum > 0.0)
            || self.voices.about.is_some()
            || self.voices.model.is_some();
        heard.then(|| self.words(place) + self.about(place) + self.model(place))
    }

    /// What the words give.
    pub(crate) fn words(&self, place: u32) -> f32 {
        self.voices.words.sums.get(place as usize).map_or(0.0, |&raw| self.words.of(raw))
    }

    /// What the table gives.
    pub(crate) fn about(&self, place: u32) -> f32 {
        part(self.voices.about.as_ref(), self.about, place)
    }

    /// What the model gives.
    pub(crate) fn model(&self, place: u32) -> f32 {
        part(self.voices.model.as_ref(), self.model, place)
    }

    /// Whether the tool at that place is a good answer: enough of the request is found in it, or it is near enough.
    ///
    /// Measured so that of the requests that are answered among the first five, three in a hundred are lost (the mean
    /// over the sets), while of requests meant for another catalog about half are turned away.
    pub(crate) fn fits(&self, place: u32) -> bool {
        let at = place as usize;
        let raw = |voice: &Option<Voice>| voice.as_ref().and_then(|voice| voice.scores.get(at)).copied();
        let answered = self.voices.words.sums.get(at).map_or(0.0, |sum| sum / self.voices.words.most.max(1e-6));
        let (share, enough) = match self.language {
            Language::English => (0.3, 0.22),
            Language::Chinese => (0.33, 0.21),
        };
        let modelled = raw(&self.voices.model).is_some_and(|near| near >= NEAR_BY_MODEL);
        answered + share * raw(&self.voices.about).unwrap_or(0.0) >= enough || modelled
    }
}

/// So near by a caller's model, nothing else needs to agree.
const NEAR_BY_MODEL: f32 = 0.5;

fn part(voice: Option<&Voice>, scale: Scale, place: u32) -> f32 {
    voice.and_then(|voice| voice.scores.get(place as usize)).map_or(0.0, |&raw| scale.of(raw))
}
