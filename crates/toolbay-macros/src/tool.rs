//! `#[tool]`.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Ident, LitStr};

use crate::{function::Function, options::Settings};

const WORDS: [&str; 8] =
    ["read_only", "destructive", "additive", "idempotent", "closed_world", "task", "only_as_task", "task_when_asked"];
const OF_ARGUMENTS: [&str; 4] = ["name", "default", "range", "header"];

pub(crate) fn expand(options: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let known: Vec<&str> = ["name", "title", "description"].into_iter().chain(WORDS).collect();
    let settings = Settings::read(options, &known)?;
    let function = Function::read(item, &OF_ARGUMENTS)?;
    let name = settings.text("name")?.unwrap_or_else(|| function.name());
    let docs = || LitStr::new(&function.docs(), Span::call_site());
    let description = settings.text("description")?.unwrap_or_else(docs);
    check_name(&name)?;
    if description.value().is_empty() {
        let what = "say what the tool does, in a doc comment: it is all that a model decides by";
        return Err(syn::Error::new(function.item.sig.ident.span(), what));
    }
    let handler = function.handler()?;
    let mut made = quote!(::toolbay::Tool::new(#name, #description, #handler));
    if let Some(title) = settings.text("title")? {
        made.extend(quote!(.title(#title)));
    }
    for word in WORDS {
        if let Some(span) = settings.word(word)? {
            let hint = Ident::new(word, span);
            made.extend(quote!(.#hint()));
        }
    }
    for field in function.fields() {
        if let Some(header) = field.settings.text("header")? {
            let argument = field.name()?;
            made.extend(quote!(.header(#argument, #header)));
        }
    }
    function.with_maker(&quote!(::toolbay::Tool), &Ident::new("tool", Span::call_site()), &made)
}

/// spec: server/tools, names
fn check_name(name: &LitStr) -> syn::Result<()> {
    let text = name.value();
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if (1..=128).contains(&text.len()) && text.bytes().all(letter) {
        return Ok(());
    }
    Err(syn::Error::new(name.span(), "a tool's name has 1 to 128 letters, digits, `_`, `-` and `.`"))
}
