//! Any text as a URI template, and templates made of parts: what is filled in fits, and what was read fills in the same.

use arbitrary::{Arbitrary, Unstructured};
use toolbay::UriTemplate;
use toolbay_protocol::types::Dict;

/// A line with a template, then one with a URI, then values; or, behind a nought, a recipe for a template.
pub fn uri_template(data: &[u8]) {
    if let Some((0, recipe)) = data.split_first() {
        if let Ok(recipe) = Recipe::arbitrary(&mut Unstructured::new(recipe)) {
            recipe.holds();
        }
        return;
    }
    let text = String::from_utf8_lossy(data);
    let mut lines = text.split('\n');
    let (template, uri) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let Ok(parsed) = UriTemplate::parse(template) else { return };
    assert_eq!(parsed.as_str(), template);
    let names: Vec<&str> = parsed.variables().collect();
    assert!(names.len() <= 64);
    let holes = names.len();
    let values: Dict<String> = names.iter().copied().zip(lines.map(str::to_owned)).collect();
    let expanded = parsed.expand(&values);
    let longest = values.iter().map(|(_, value)| value.len()).max().unwrap_or(0);
    // Each value thrice as long where every byte is escaped, with its name where there is one.
    assert!(expanded.len() <= 2 * template.len() + holes * (3 * longest + 2), "{} bytes", expanded.len());
    for uri in [uri, &expanded] {
        let Some(found) = parsed.matches(uri) else { continue };
        assert!(found.iter().all(|(name, _)| names.contains(&name)));
        parsed.expand(&found);
    }
}

/// A template whose holes can be told apart, and a value for each.
#[derive(Arbitrary, Debug)]
struct Recipe<'a> {
    parts: Vec<Ingredient<'a>>,
    query: Option<Pairs<'a>>,
    fragment: Option<&'a str>,
}

#[derive(Arbitrary, Debug)]
enum Ingredient<'a> {
    Literal(Plain),
    Slash,
    Simple(&'a str, Option<&'a str>),
    Reserved(&'a str),
    Label(&'a str),
    Path(&'a str, Option<&'a str>),
}

/// `?` and what may follow.
#[derive(Arbitrary, Debug)]
struct Pairs<'a> {
    one: &'a str,
    two: Option<&'a str>,
}

/// Letters that mean themselves in any URI.
#[derive(Debug)]
struct Plain(String);

impl<'a> Arbitrary<'a> for Plain {
    fn arbitrary(source: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let letters = source.arbitrary::<&[u8]>()?.iter().take(6);
        Ok(Self(letters.map(|byte| char::from(b"abcxyz019-_~."[usize::from(*byte) % 13])).collect()))
    }
}

/// A template while it is made.
#[derive(Default)]
struct Made {
    text: String,
    values: Dict<String>,
    holes: usize,
    /// Whether a value, as it will stand, means two things.
    ambiguous: bool,
    /// Whether some value holds a `%`, and some hole takes what is escaped already: then one may be taken for the other.
    percent: bool,
    reserved: bool,
}

impl Made {
    fn hole(&mut self, operator: &str, values: &[&str]) {
        let mut names = vec![];
        for value in values {
            let value: String = value.chars().take(8).collect();
            // What stands as it is may be taken for the beginning of a query.
            self.ambiguous |= operator == "+" && value.contains(['?', '#']);
            self.percent |= value.contains('%');
            self.reserved |= matches!(operator, "+" | "#");
            let name = format!("v{}", self.holes);
            self.holes += 1;
            // By its place alone, nothing can be told from no value.
            let named = matches!(operator, "?" | "&" | ";");
            self.values.insert(name.as_str(), if value.is_empty() && !named { "x".to_owned() } else { value });
            names.push(name);
        }
        self.text += &format!("{{{operator}{}}}", names.join(","));
    }
}

impl Recipe<'_> {
    fn make(&self) -> Made {
        let mut made = Made::default();
        for part in self.parts.iter().take(5) {
            match part {
                Ingredient::Literal(Plain(text)) => made.text += text,
                Ingredient::Slash => made.text.push('/'),
                Ingredient::Simple(one, two) => made.hole("", &[&[*one][..], two.as_slice()].concat()),
                Ingredient::Reserved(one) => made.hole("+", &[one]),
                Ingredient::Label(one) => made.hole(".", &[one]),
                Ingredient::Path(one, two) => made.hole("/", &[&[*one][..], two.as_slice()].concat()),
            }
        }
        if let Some(Pairs { one, two }) = &self.query {
            made.hole("?", &[one]);
            if let Some(two) = two {
                made.hole("&", &[two]);
            }
        }
        if let Some(fragment) = self.fragment {
            made.hole("#", &[fragment]);
        }
        made
    }

    fn holds(&self) {
        let Made { text, values, ambiguous, percent, reserved, .. } = self.make();
        let template = UriTemplate::parse(&text).unwrap_or_else(|flaw| panic!("{flaw}"));
        assert!(template.variables().eq(values.iter().map(|(name, _)| name)));
        let uri = template.expand(&values);
        assert!(uri.is_ascii(), "{uri}");
        if ambiguous || (percent && reserved) {
            template.matches(&uri);
            return;
        }
        let Some(found) = template.matches(&uri) else {
            panic!("{text} with {values:?} gives {uri}, which does not fit")
        };
        let again = template.expand(&found);
        if self.parts.iter().any(|part| matches!(part, Ingredient::Reserved(_))) {
            // A hole for anything may take what another one had escaped.
            assert_eq!(unescaped(&again), unescaped(&uri), "{text} reads {found:?}");
        } else {
            assert_eq!(again, uri, "{text} reads {found:?}");
        }
        // One hole, or holes apart: the very values come back.
        if values.len() == 1 {
            assert_eq!(found, values, "{text} of {uri}");
        }
    }
}

fn unescaped(uri: &str) -> Vec<u8> {
    let (mut bytes, mut rest) = (vec![], uri.as_bytes());
    while let [byte, behind @ ..] = rest {
        let escaped = std::str::from_utf8(behind.get(..2).unwrap_or_default()).ok();
        let escaped = escaped.filter(|_| *byte == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(escaped.unwrap_or(*byte));
        rest = if escaped.is_some() { &behind[2..] } else { behind };
    }
    bytes
}
