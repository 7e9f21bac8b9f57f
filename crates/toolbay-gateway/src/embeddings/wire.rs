//! What is asked and answered: the shape of OpenAI's `/v1/embeddings`, which nearly all endpoints speak.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::settings::{Settings, WIDEST};

#[derive(Serialize)]
struct Ask<'a, T> {
    model: &'a str,
    input: &'a [T],
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// What is sent to have these texts encoded.
pub(super) fn document<T: AsRef<str> + Serialize>(settings: &Settings, texts: &[T]) -> Bytes {
    let ask = Ask { model: &settings.model, input: texts, dimensions: settings.dimensions };
    serde_json::to_vec(&ask).expect("texts and numbers are always written").into()
}

/// The vectors in an answer, in the order in which the texts were asked; or what is wrong with it.
pub(super) fn vectors(body: &[u8], asked: usize) -> Result<Vec<Vec<f32>>, String> {
    let answer: Answer = serde_json::from_slice(body)
        .map_err(|why| format!("its answer is not of the shape of /v1/embeddings ({why}); check `embeddings.url`"))?;
    if answer.data.len() != asked {
        return Err(format!("it was asked for {asked} vectors and answers with {}", answer.data.len()));
    }
    let mut rows: Vec<Option<Vec<f32>>> = vec![None; asked];
    for (place, item) in answer.data.into_iter().enumerate() {
        let index = item.index.unwrap_or(place);
        let row = rows.get_mut(index).filter(|row| row.is_none());
        let row = row.ok_or_else(|| format!("its answer numbers two vectors alike, or one {index} of {asked}"))?;
        *row = Some(item.embedding);
    }
    let rows: Vec<Vec<f32>> = rows.into_iter().flatten().collect();
    let width = rows.first().map_or(0, Vec::len);
    if width == 0 || width > WIDEST {
        return Err(format!("its vectors have {width} numbers; from 1 to {WIDEST} can be used"));
    }
    if let Some(other) = rows.iter().find(|row| row.len() != width) {
        return Err(format!("one answer has vectors of {width} and of {} numbers", other.len()));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Url;

    #[test]
    fn what_is_sent_names_model_texts_and_width() {
        let mut settings = Settings::new(Url::parse("http://localhost/v1/embeddings").unwrap(), "small");
        assert_eq!(document(&settings, &["a", "b"]), r#"{"model":"small","input":["a","b"]}"#);
        settings.dimensions = Some(64);
        assert_eq!(document(&settings, &["a"]), r#"{"model":"small","input":["a"],"dimensions":64}"#);
    }

    #[test]
    fn vectors_come_back_in_the_order_of_the_texts() {
        let out_of_order = br#"{"data": [{"index": 1, "embedding": [3, 4]}, {"index": 0, "embedding": [1, 2.5]}]}"#;
        assert_eq!(vectors(out_of_order, 2).unwrap(), [vec![1.0, 2.5], vec![3.0, 4.0]]);
        let unnumbered = br#"{"object": "list", "data": [{"embedding": [1]}, {"embedding": [2]}], "usage": {}}"#;
        assert_eq!(vectors(unnumbered, 2).unwrap(), [vec![1.0], vec![2.0]]);
    }

    #[test]
    fn what_is_no_answer_is_said_in_words() {
        for (body, says) in [
            ("<html>", "not of the shape of /v1/embeddings"),
            (r#"{"error": {"message": "no"}}"#, "missing field `data`"),
            (r#"{"data": [{"embedding": "AACAPw=="}]}"#, "not of the shape"),
            (r#"{"data": [{"embedding": [null]}]}"#, "not of the shape"),
            (r#"{"data": []}"#, "asked for 1 vectors and answers with 0"),
            (r#"{"data": [{"index": 7, "embedding": [1]}]}"#, "one 7 of 1"),
            (r#"{"data": [{"embedding": []}]}"#, "have 0 numbers"),
            (r#"{"data": [{"embedding": [1e39]}]}"#, "out of range"),
        ] {
            let said = vectors(body.as_bytes(), 1).unwrap_err();
            assert!(said.contains(says), "{body}: {said}");
        }
        let uneven = br#"{"data": [{"embedding": [1]}, {"embedding": [1, 2]}]}"#;
        assert!(vectors(uneven, 2).unwrap_err().contains("of 1 and of 2 numbers"));
        let twice = br#"{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}"#;
        assert!(vectors(twice, 2).unwrap_err().contains("two vectors alike"));
    }
}
